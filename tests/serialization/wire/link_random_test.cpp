// Random traffic in random portions, and the effects of damaged, truncated and invented bytes.
#include "tests/serialization/small_ops.hpp"
#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/wire/frame.hpp"

namespace troupe::test::link_random_test {
namespace {

// Portions of 1 byte up to a few chunks.
size_t portion(std::mt19937_64& random) { return 1 + random() % (1ull << (4 + random() % 16)); }

message random_message(std::mt19937_64& random, uint64_t number) {
  auto value = [&]() -> tensor {
    switch (random() % 5) {
      case 0: return tensor::scalar(1.f);
      case 1: return tensor::vector<std::string>({"a", std::string(random() % 100'000, 'b')});
      case 2: return counted(static_cast<int64_t>(random() % 300'000));
      case 3: return {};
      default: return counted(static_cast<int64_t>(random() % 30'000));
    }
  };
  switch (random() % 4) {
    case 0: return tensor_push{{0, number}, static_cast<uint32_t>(random()), false, value()};
    case 1: return run_step{number, 1, {0, 2}, 3, {{0, value()}, {1, value()}}};
    case 2: return cancel_step{{0, number}, failure(error_kind::aborted, "why")};
    default: return reply{number, {}};
  }
}

// The messages that one end sends and the other receives, in the promised order.
struct direction {
  std::vector<std::string> ordered, others;
  void note(const message& sent) {
    (delivery_of(sent) == delivery::ordered ? ordered : others).push_back(print(sent));
  }
  static direction of(const std::vector<message>& messages) {
    direction noted;
    for (const auto& noted_message : messages)
      noted.note(noted_message);
    std::ranges::sort(noted.others);
    return noted;
  }
  bool operator==(const direction&) const = default;
};

TEST_CASE("random traffic both ways in random portions arrives complete and in order") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 5; ++round) {
    auto options = options_of("task");
    options.max_pending_bytes = random() % 3'000'000;
    options.inline_tensor = random() % 100'000;
    peer_end a{options}, b{options};
    std::vector<message> sent_by_a, sent_by_b;
    std::vector<char> to_a, to_b; // on the wire
    for (size_t quiet = 0; quiet < 20;) {
      auto send = [&](peer_end& from, std::vector<message>& sent) {
        if (sent.size() < 40 && random() % 3 == 0) {
          sent.push_back(random_message(random, sent.size()));
          REQUIRE(from.end_link.send(sent.back()).ok());
        }
      };
      send(a, sent_by_a);
      send(b, sent_by_b);
      a.end_link.fill(to_b, portion(random));
      b.end_link.fill(to_a, portion(random));
      auto give = [&](peer_end& to, std::vector<char>& wire) {
        auto size = std::min(wire.size(), portion(random));
        auto outcome = to.give(std::span{wire}.first(size));
        INFO(outcome);
        REQUIRE(outcome.ok());
        wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(size));
      };
      give(a, to_a);
      give(b, to_b);
      auto done = sent_by_a.size() == 40 && sent_by_b.size() == 40 && to_a.empty() &&
                  to_b.empty() && a.end_link.drained() && b.end_link.drained();
      quiet = done ? quiet + 1 : 0;
    }
    CHECK(direction::of(b.got) == direction::of(sent_by_a));
    CHECK(direction::of(a.got) == direction::of(sent_by_b));
    CHECK(a.end_link.pending_bytes() == 0);
    CHECK(b.end_link.pending_bytes() == 0);
  }
}

TEST_CASE("a stream may arrive byte by byte") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(20'000)}).ok());
  for (bool moved = true; moved;) {
    auto to_b = a.take(1), to_a = b.take(1);
    moved = !to_b.empty() || !to_a.empty();
    REQUIRE(b.give(to_b).ok());
    REQUIRE(a.give(to_a).ok());
  }
  REQUIRE(b.got.size() == 1);
  CHECK(identical(std::get<tensor_push>(b.got[0]).value, counted(20'000)));
}

// All bytes that one end sends in a short conversation, and the answers that keep it going.
std::vector<char> recorded() {
  peer_end a{options_of("task")}, b{options_of("task")};
  for (const auto& example : test::example_messages())
    (void)a.end_link.send(example);
  std::vector<char> bytes_sent;
  for (bool moved = true; moved;) {
    auto to_b = a.take(1 << 20), to_a = b.take(1 << 20);
    moved = !to_b.empty() || !to_a.empty();
    bytes_sent.insert(bytes_sent.end(), to_b.begin(), to_b.end());
    REQUIRE(b.give(to_b).ok());
    REQUIRE(a.give(to_a).ok());
  }
  return bytes_sent;
}

TEST_CASE("a flipped bit at any position is detected") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  auto good = recorded();
  peer_end intact{options_of("task")};
  REQUIRE(intact.give(good).ok());
  auto count = intact.got.size();
  REQUIRE(count == std::variant_size_v<message> - 10); // without the link's own messages
  for (int round = 0; round < 400; ++round) {
    auto bytes = good;
    auto at = random() % (round % 2 ? bytes.size() : 2000);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    peer_end b{options_of("task")};
    auto outcome = b.give(bytes);
    INFO("byte " << at << ": " << outcome);
    // With damage in the first four bytes, the peer counts as a stranger.
    CHECK(outcome.kind() == (at < 4 ? error_kind::invalid_argument : error_kind::data_loss));
    CHECK(b.got.size() < count);
  }
}

TEST_CASE("a stream truncated anywhere is incomplete, not misread") {
  auto good = recorded();
  std::mt19937_64 random{1};
  for (int round = 0; round < 100; ++round) {
    peer_end b{options_of("task")};
    CHECK(b.give(std::span{good}.first(random() % good.size())).ok());
  }
}

TEST_CASE("well-framed nonsense is an error and takes no more memory than the limits allow") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  auto options = options_of("task");
  options.max_pending_bytes = 1 << 20;
  options.max_tensor_bytes = 1 << 20;
  for (int round = 0; round < 300; ++round) {
    peer_end b{options};
    peer_end honest{options_of("task")};
    REQUIRE(b.give(honest.take(1 << 20)).ok());
    status outcome;
    for (int i = 0; i < 20 && outcome.ok(); ++i) {
      auto encoded = encode(random_message(random, 1));
      REQUIRE(encoded);
      if (random() % 4 == 0)
        encoded->bytes[random() % encoded->bytes.size()] ^= std::byte{8};
      auto kind = random() % 4 == 0 ? frame_kind::chunk : frame_kind::message;
      auto header = header_for(kind, random() % 4, encoded->bytes);
      outcome = b.end_link.receive(header);
      if (outcome.ok())
        outcome = b.end_link.receive(encoded->bytes);
      CHECK(b.end_link.pending_bytes() < 4 << 20);
    }
  }
}

TEST_CASE("a tensor of 3 GB is sent with a single allocation", "[slow]") {
  struct counting final : allocator {
    void* allocate(size_t bytes) noexcept override {
      total += bytes;
      return heap_allocator().allocate(bytes);
    }
    void deallocate(void* memory, size_t bytes) noexcept override {
      heap_allocator().deallocate(memory, bytes);
    }
    size_t total = 0;
  } memory;
  constexpr int64_t size = test::gigabytes_fit ? 3'000'000'000 : 300'000'000;
  auto options = options_of("task");
  options.memory = &memory;
  peer_end a{options_of("task")}, b{options};
  auto value = tensor::make(dtype::u8, shape{size});
  REQUIRE(value);
  std::memset(value->raw(), 7, static_cast<size_t>(size));
  value->data<uint8_t>()[size - 1] = 9;
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, *value}).ok());
  REQUIRE(test::exchange(a, b).ok());
  REQUIRE(b.got.size() == 1);
  CHECK(identical(std::get<tensor_push>(b.got[0]).value, *value));
  CHECK(memory.total < size + 4096);
  b.got.clear();
}

} // namespace
} // namespace troupe::test::link_random_test
