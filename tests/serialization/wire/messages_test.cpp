#include "tests/serialization/small_ops.hpp"
#include "tests/serialization/wire/example_messages.hpp"
#include "tests/support/catch.hpp"
#include "troupe/runtime/types/tensor_list.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace troupe::test::messages_test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("every message survives encoding and decoding") {
  auto examples = test::example_messages();
  REQUIRE(examples.size() == std::variant_size_v<message>);
  for (size_t i = 0; i < examples.size(); ++i) {
    INFO(name_of(examples[i]));
    CHECK(examples[i].index() == i); // one of each kind
    auto encoded = encode(examples[i]);
    REQUIRE(encoded);
    auto decoded = decode(encoded->bytes, encoded->payloads);
    INFO(decoded.status());
    REQUIRE(decoded);
    CHECK(print(*decoded) == print(examples[i]));
  }
}

TEST_CASE("session requests and replies survive encoding and decoding") {
  std::set<std::pair<size_t, size_t>> kinds;
  for (const auto& example : test::example_session_messages()) {
    auto encoded = encode(example);
    REQUIRE(encoded);
    auto decoded = decode(encoded->bytes, encoded->payloads);
    INFO(print(example) << '\n' << decoded.status());
    REQUIRE(decoded);
    CHECK(print(*decoded) == print(example));
    const auto* request = std::get_if<session_request>(&example);
    kinds.emplace(example.index(), request ? request->content.index()
                                           : std::get<session_reply>(example).content.index());
  }
  CHECK(kinds.size() == std::variant_size_v<decltype(session_request::content)> +
                            std::variant_size_v<decltype(session_reply::content)>);
}

TEST_CASE("an envelope describes the delivery of its message, and its separate payloads") {
  auto examples = test::example_messages();
  std::ranges::move(test::example_session_messages(), std::back_inserter(examples));
  for (const auto& example : examples) {
    INFO(name_of(example));
    auto encoded = encode(example);
    REQUIRE(encoded);
    auto read = read_envelope(encoded->bytes);
    REQUIRE(read);
    CHECK(read->order == delivery_of(example));
    REQUIRE(read->payload_sizes.size() == encoded->payloads.size());
    for (size_t i = 0; i < read->payload_sizes.size(); ++i)
      CHECK(read->payload_sizes[i] == encoded->payloads[i].bytes());
  }
}

TEST_CASE("a payload that belongs to no tensor of its message is detected before it is pulled "
          "where none of that kind brings any") {
  auto encoded = encode(tensor_push{{0, 1}, 2, false, test::counted(20'000)});
  REQUIRE(encoded);
  REQUIRE(encoded->payloads.size() == 1);
  int early = 0, unused = 0;
  for (size_t i = 0; i < encoded->bytes.size(); ++i)
    for (int value = 0; value < 64; ++value) {
      auto bytes = encoded->bytes;
      bytes[i] = static_cast<std::byte>(value);
      if (auto read = read_envelope(bytes); !read) {
        early += read.status().message().find("without tensors") != std::string::npos;
        continue;
      }
      auto decoded = decode(bytes, encoded->payloads);
      unused +=
          !decoded && decoded.status().message().find("belongs to no tensor") != std::string::npos;
      const auto* push = decoded ? std::get_if<tensor_push>(&*decoded) : nullptr;
      if (push)
        CHECK(push->value.bytes() == 80'000);
    }
  CHECK(early > 0);
  CHECK(unused > 0);
}

TEST_CASE("a tensor of up to 64 KiB is encoded in its message, a larger one is separate") {
  auto outside = [](int64_t elements) {
    auto encoded = encode(tensor_push{{0, 1}, 2, false, test::counted(elements)});
    REQUIRE(encoded);
    return encoded->payloads.size();
  };
  CHECK(outside(16 * 1024) == 0);
  CHECK(outside(16 * 1024 + 1) == 1);
}

TEST_CASE("a registration carries the costs of very many nodes") {
  register_graph registration;
  for (int i = 0; i < 100'000; ++i)
    registration.settings.costs.push_back(
        {concat("model/layer/node_with_a_long_name_", i), i * 0.5});
  auto encoded = encode(registration);
  INFO(encoded.status());
  REQUIRE(encoded);
  auto decoded = decode(encoded->bytes, encoded->payloads);
  REQUIRE(decoded);
  const auto& costs = std::get<register_graph>(*decoded).settings.costs;
  REQUIRE(costs.size() == registration.settings.costs.size());
  CHECK(costs.back().node == registration.settings.costs.back().node);
  CHECK(costs.back().nanoseconds == registration.settings.costs.back().nanoseconds);
}

TEST_CASE("a separate payload shares the tensor's memory, at the two ends") {
  auto value = test::counted(100'000);
  auto encoded = encode(tensor_push{{0, 1}, 2, false, value});
  REQUIRE(encoded);
  CHECK(encoded->payloads[0].raw() == value.raw());
  auto decoded = decode(encoded->bytes, encoded->payloads);
  REQUIRE(decoded);
  auto& back = std::get<tensor_push>(*decoded).value;
  CHECK(back.raw() == value.raw());
  // The payload keeps the tensor's memory alive.
  value.reset();
  encoded->payloads.clear();
  CHECK(identical(back, test::counted(100'000)));
}

TEST_CASE("many small tensors do not make a message longer than allowed") {
  run_step step;
  for (uint32_t i = 0; i < 100; ++i)
    step.feeds.push_back({i, test::counted(15'000)});
  auto encoded = encode(step);
  INFO(encoded.status());
  REQUIRE(encoded);
  CHECK(encoded->bytes.size() < 1024 * 1024);
  CHECK(encoded->payloads.size() > 80);
  auto decoded = decode(encoded->bytes, encoded->payloads);
  REQUIRE(decoded);
  CHECK(print(*decoded) == print(step));
}

TEST_CASE("an error's long text is truncated rather than lost") {
  auto encoded = encode(reply{1, failure(error_kind::internal, std::string(3'000'000, 'x'))});
  REQUIRE(encoded);
  auto decoded = decode(encoded->bytes);
  REQUIRE(decoded);
  CHECK_THAT(std::get<reply>(*decoded).outcome.message(), Catch::Matchers::EndsWith("x [cut]"));
}

TEST_CASE("a message that would be longer than allowed is refused with its name") {
  device_list_reply devices;
  devices.devices.resize(30'000, {"name", "kind", 1, "description"});
  auto encoded = encode(devices);
  CHECK(encoded.status().kind() == error_kind::resource_exhausted);
  CHECK_THAT(encoded.status().message(), Contains("device_list_reply"));
}

TEST_CASE("a payload of another size than announced is refused") {
  auto encoded = encode(tensor_push{{0, 1}, 2, false, test::counted(100'000)});
  REQUIRE(encoded);
  CHECK(decode(encoded->bytes).status().kind() == error_kind::data_loss);
  auto shorter = tensor::make(dtype::u8, shape{8});
  REQUIRE(shorter);
  std::vector<tensor> wrong_payloads{*shorter};
  CHECK(decode(encoded->bytes, wrong_payloads).status().kind() == error_kind::data_loss);
}

TEST_CASE("a damaged message is an error or another message, never a crash") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  auto examples = test::example_messages();
  std::ranges::move(test::example_session_messages(), std::back_inserter(examples));
  for (const auto& example : examples) {
    auto encoded = encode(example);
    REQUIRE(encoded);
    for (int round = 0; round < 300; ++round) {
      auto bytes = encoded->bytes;
      for (auto n = random() % 4 + 1; n > 0; --n)
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
      if (random() % 4 == 0)
        bytes.resize(random() % bytes.size());
      auto envelope = read_envelope(bytes);
      auto decoded = decode(bytes, encoded->payloads);
      if (!decoded) {
        INFO(decoded.status());
        CHECK(decoded.status().kind() == error_kind::data_loss);
      } else {
        print(*decoded); // reads every byte
      }
    }
  }
}

TEST_CASE("a payload must match its type and shape exactly") {
  auto bytes = [](std::vector<uint8_t> values) { return tensor::vector<uint8_t>(values); };
  auto read = [](dtype type, std::vector<int64_t> extents, const tensor& payload) {
    return from_payload(static_cast<uint8_t>(type), extents, payload).status().kind();
  };
  CHECK(read(dtype::u16, {2}, bytes({1, 2, 3, 4})) == error_kind::ok);
  CHECK(read(dtype::u16, {2}, bytes({1, 2, 3})) == error_kind::data_loss);
  CHECK(read(dtype::u16, {3}, bytes({1, 2, 3, 4})) == error_kind::data_loss);
  CHECK(read(dtype::u16, {-2}, bytes({1, 2, 3, 4})) == error_kind::data_loss);
  CHECK(read(dtype::u16, {1ll << 40, 1ll << 40}, bytes({})) == error_kind::data_loss);
  CHECK(read(dtype::c128, {1ll << 60}, bytes({})) == error_kind::data_loss);
  CHECK(read(dtype::string, {1ll << 60, 0}, bytes({})) == error_kind::data_loss);
  CHECK(read(dtype::boolean, {2}, bytes({0, 1})) == error_kind::ok);
  CHECK(read(dtype::boolean, {2}, bytes({0, 2})) == error_kind::data_loss);
  CHECK(read(dtype::none, {0}, bytes({})) == error_kind::data_loss);
  CHECK(from_payload(dtype_count, std::vector<int64_t>{0}, bytes({})).status().kind() ==
        error_kind::data_loss);
}

TEST_CASE("a strings payload with inconsistent lengths is refused before memory is taken") {
  auto payload = to_payload(tensor::vector<std::string>({"abc", ""}));
  REQUIRE(payload);
  REQUIRE(payload->bytes() == 19);
  auto read = [&](int64_t count) {
    return from_payload(static_cast<uint8_t>(dtype::string), std::vector<int64_t>{count}, *payload);
  };
  CHECK(read(2));
  CHECK_FALSE(read(1));
  CHECK_FALSE(read(3));
  CHECK_FALSE(read(1ll << 60));
  auto* length = static_cast<uint8_t*>(payload->raw());
  length[7] = 0xff;
  CHECK_FALSE(read(2));
}

} // namespace
TEST_CASE("lists are encoded with all their items, and damaged ones are detected") {
  tensor_list inner;
  inner.type = dtype::string;
  inner.items = {tensor::vector<std::string>({"a", "longer than a small buffer of a string"}), {}};
  auto nested = *tensor::make(dtype::variant, shape{2});
  nested.data<tensor_list>()[1] = inner;
  auto lists = *tensor::make(dtype::variant, {});
  auto& list = *lists.data<tensor_list>();
  list.dims = partial_shape{-1, 2};
  list.max_items = 9;
  list.items = {tensor::from_values<float>({1, 2}, {1, 2}),
                {},
                nested,
                tensor::from_values<float>(shape{0, 2}, {})};
  auto payload = to_payload(lists);
  REQUIRE(payload);
  CHECK(payload->bytes() == payload_bytes(lists));
  auto type = static_cast<uint8_t>(dtype::variant);
  auto decoded = from_payload(type, {}, *payload);
  INFO(decoded.status());
  REQUIRE(decoded);
  CHECK(identical(*decoded, lists));
  CHECK(decoded->data<tensor_list>()->max_items == 9);
  CHECK(decoded->data<tensor_list>()->dims == list.dims);
  auto bytes = payload->values<uint8_t>();
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK(from_payload(type, {}, *bytes_to_tensor(bytes_of(*payload).first(length)))
              .status()
              .kind() == error_kind::data_loss);
  std::mt19937 dice{1};
  for (int i = 0; i < 5000; ++i) { // any outcome but a crash
    std::vector<uint8_t> damaged(bytes.begin(), bytes.end());
    for (int k = 0; k < 3; ++k)
      damaged[dice() % damaged.size()] = static_cast<uint8_t>(dice());
    (void)from_payload(type, {}, tensor::vector(damaged));
  }
}

} // namespace troupe::test::messages_test
