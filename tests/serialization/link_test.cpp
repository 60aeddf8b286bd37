#include "tests/serialization/link_pair.hpp"
#include "tests/serialization/small_ops.hpp"
#include "tests/support/catch.hpp"
#include "troupe/serialization/wire/frame.hpp"

namespace troupe::test::link_test {
namespace {

using Catch::Matchers::Contains;
using testing::counted;
using testing::exchange;
using testing::options_of;
using testing::peer_end;
using testing::print;

TEST_CASE("two ends introduce themselves, then talk") {
  peer_end client{options_of("client", "")}, task{options_of("task", "worker", 3)};
  CHECK(client.it.peer() == nullptr);
  REQUIRE(exchange(client, task).ok());
  REQUIRE(client.it.peer());
  CHECK(client.it.peer()->job == "worker");
  CHECK(client.it.peer()->task == 3);
  CHECK(task.it.peer()->role == "client");

  REQUIRE(client.it.send(device_list_request{7}).ok());
  REQUIRE(exchange(client, task).ok());
  REQUIRE(task.got.size() == 1);
  CHECK(print(task.got[0]) == print(device_list_request{7}));
}

TEST_CASE("what is sent before the other end is known waits for it") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.it.send(tensor_push{{0, 1}, 2, false, counted(100'000)}).ok());
  auto first = a.take(1 << 20);
  CHECK(first.size() < 4096); // hello alone
  CHECK(a.it.idle());
  CHECK_FALSE(a.it.drained());
  REQUIRE(b.give(first).ok());
  REQUIRE(exchange(a, b).ok());
  CHECK(b.got.size() == 1);
  CHECK(a.it.drained());
}

TEST_CASE("a stranger's first bytes are quoted") {
  peer_end task{options_of("task")};
  std::string_view request = "GET / HTTP/1.1\r\nHost: worker\r\n";
  auto outcome = task.give(request);
  CHECK(outcome.kind() == error_kind::invalid_argument);
  CHECK(outcome.message() == "the peer does not speak Troupe's protocol: got 'GET / HTTP/1.1..…'");
  CHECK(task.give(request).message() == outcome.message());
}

TEST_CASE("a stranger gets no memory before it has introduced itself") {
  peer_end task{options_of("task")};
  auto header = write_header({.kind = frame_kind::message, .size = 1 << 20});
  CHECK(task.it.receive(header).kind() == error_kind::resource_exhausted);

  peer_end other{options_of("task")};
  auto push = encode(tensor_push{{0, 1}, 2, false, counted(100'000)});
  REQUIRE(push);
  auto frame = header_for(frame_kind::message, 1, push->bytes);
  REQUIRE(other.it.receive(frame).ok());
  CHECK_THAT(other.it.receive(push->bytes).message(), Contains("before it has introduced itself"));
}

TEST_CASE("an end that is not welcome learns why") {
  auto refuse = [](const hello& who) {
    return failure(error_kind::aborted, "incarnation ", who.incarnation, " is stale");
  };
  peer_end old{options_of("task")}, task{options_of("task"), refuse};
  auto hello_bytes = old.take(1 << 20);
  CHECK(task.give(hello_bytes).kind() == error_kind::aborted);
  auto outcome = old.give(task.take(1 << 20));
  CHECK(outcome.kind() == error_kind::aborted);
  CHECK_THAT(outcome.message(), Contains("incarnation 1 is stale"));
  CHECK(old.it.send(ping{}).kind() != error_kind::ok);
  CHECK(old.it.send(goodbye{}).kind() == error_kind::aborted);
}

TEST_CASE("roles and versions that cannot work together are refused readably") {
  auto outcome_of = [](hello who) {
    auto bytes = encode(who);
    REQUIRE(bytes);
    peer_end task{options_of("task")};
    REQUIRE(task.it.receive(header_for(frame_kind::message, 0, bytes->bytes)).ok());
    return task.it.receive(bytes->bytes);
  };
  hello good{protocol_version, "9.9", "task", "worker", 0, 1, 1 << 20, 1 << 20};
  CHECK(outcome_of(good).ok());
  auto who = good;
  who.version = 7;
  CHECK_THAT(outcome_of(who).message(), Contains("(Troupe 9.9) speaks version 7"));
  who = good;
  who.role = "king";
  CHECK_THAT(outcome_of(who).message(), Contains("task or client, got 'king'"));
  who = good;
  who.job = "";
  CHECK_THAT(outcome_of(who).message(), Contains("which task"));
  who = good;
  who.max_message = 3;
  CHECK_FALSE(outcome_of(who).ok());
}

TEST_CASE("messages come in order, whatever their payloads take") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.send(run_step{1, 1, {0, 1}, 0, {{0, counted(500'000)}}}).ok());
  REQUIRE(a.it.send(run_step{2, 1, {0, 2}, 0, {}}).ok());
  REQUIRE(a.it.send(run_step{3, 1, {0, 3}, 0, {{0, counted(50'000)}}}).ok());
  REQUIRE(a.it.send(goodbye{"done"}).ok());
  REQUIRE(exchange(a, b).ok());
  REQUIRE(b.got.size() == 4);
  for (uint64_t i = 0; i < 3; ++i)
    CHECK(std::get<run_step>(b.got[i]).request == i + 1);
  CHECK(identical(std::get<run_step>(b.got[0]).feeds[0].value, counted(500'000)));
  CHECK(b.it.pending_bytes() == 0);
}

TEST_CASE("a small tensor and a cancellation pass a message that waits for its payload") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.send(run_step{1, 1, {0, 1}, 0, {{0, counted(500'000)}}}).ok());
  REQUIRE(a.it.send(tensor_push{{0, 1}, 2, false, counted(10)}).ok());
  REQUIRE(a.it.send(cancel_step{{0, 1}, failure(error_kind::cancelled, "")}).ok());
  REQUIRE(b.give(a.take(1 << 20)).ok());
  REQUIRE(b.got.size() == 2);
  CHECK(std::holds_alternative<cancel_step>(b.got[0]));
  CHECK(std::holds_alternative<tensor_push>(b.got[1]));
}

TEST_CASE("a ping waits for one chunk at most, not for a payload") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.send(tensor_push{{0, 1}, 2, false, counted(4'000'000)}).ok());
  REQUIRE(b.give(a.take(1 << 20)).ok());
  REQUIRE(a.give(b.take(1 << 20)).ok()); // the pull
  a.take(10);                            // a chunk has begun
  REQUIRE(a.it.send(cancel_step{{0, 9}, {}}).ok());
  auto next = a.take(chunk_bytes + 1000);
  std::array<std::byte, 4> magic{};
  std::memcpy(magic.data(), next.data() + frame_header_bytes - 10 + chunk_bytes, 4);
  auto kind = next[frame_header_bytes - 10 + chunk_bytes + 4];
  CHECK(std::memcmp(magic.data(), &frame_magic, 4) == 0);
  CHECK(kind == static_cast<char>(frame_kind::message));
}

TEST_CASE("payloads take turns, chunk by chunk") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.send(tensor_push{{0, 1}, 1, false, counted(1'000'000)}).ok());
  REQUIRE(a.it.send(tensor_push{{0, 1}, 2, false, counted(70'000)}).ok());
  REQUIRE(exchange(a, b, chunk_bytes).ok());
  REQUIRE(b.got.size() == 2);
  CHECK(std::get<tensor_push>(b.got[0]).key == 2); // the small one was first to be complete
}

TEST_CASE("a receiver pulls no more at once than it may, and everything arrives") {
  auto options = options_of("task");
  options.max_pending_bytes = 1'000'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  for (uint32_t i = 0; i < 10; ++i)
    REQUIRE(a.it.send(tensor_push{{0, 1}, i, false, counted(100'000)}).ok());
  // One message may need more than the limit, alone.
  REQUIRE(
      a.it.send(run_step{1, 1, {0, 1}, 0, {{0, counted(200'000)}, {1, counted(200'000)}}}).ok());
  uint64_t most = 0;
  for (bool moved = true; moved;) {
    auto to_b = a.take(50'000), to_a = b.take(50'000);
    moved = !to_b.empty() || !to_a.empty();
    REQUIRE(b.give(to_b).ok());
    REQUIRE(a.give(to_a).ok());
    most = std::max(most, b.it.pending_bytes());
  }
  CHECK(b.got.size() == 11);
  CHECK(most < 1'700'000);
}

TEST_CASE("a tensor that the receiver does not accept is refused by the sender") {
  auto options = options_of("task");
  options.max_tensor_bytes = 300'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  auto outcome = a.it.send(tensor_push{{0, 1}, 1, false, counted(100'000)});
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(), Contains("/job:worker/task:0 accepts: 300000"));
  REQUIRE(exchange(a, b).ok());
  CHECK(a.it.send(tensor_push{{0, 1}, 1, false, counted(70'000)}).ok());
}

TEST_CASE("a peer that announces more than allowed is cut off before memory is taken") {
  auto options = options_of("task");
  options.max_tensor_bytes = 300'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(a.it.send(tensor_push{{0, 1}, 1, false, counted(100'000)}).ok()); // not knowing the limit
  auto outcome = exchange(a, b);
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK(b.it.pending_bytes() == 0);
  // and is told
  CHECK_THAT(a.give(b.take(1 << 20)).message(), Contains("payloads of more than 300000 bytes"));
}

TEST_CASE("a peer that has messages wait without end is cut off") {
  auto options = options_of("task");
  options.max_held_bytes = 20'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  for (uint32_t i = 0; i < 100; ++i)
    REQUIRE(a.it.send(tensor_push{{0, 1}, i, false, counted(20'000)}).ok());
  CHECK(b.give(a.take(1 << 20)).kind() == error_kind::resource_exhausted);
}

TEST_CASE("silence is answered with a ping, and then with unavailable") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.it.tick(now).ok());
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.tick(now += 3s).ok()); // heard since
  CHECK(a.it.idle());
  REQUIRE(a.it.tick(now += 3s).ok());
  CHECK(a.it.idle());
  REQUIRE(a.it.tick(now += 1s).ok());
  CHECK_FALSE(a.it.idle()); // a ping
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.it.tick(now += 3s).ok()); // the pong was heard
  CHECK(a.it.idle());
  CHECK(b.got.empty());

  REQUIRE(a.it.tick(now += 9s).ok());
  auto outcome = a.it.tick(now += 1s);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(outcome.message() == "nothing was heard from /job:worker/task:0 for 10000 ms");
  CHECK(a.it.receive({}).kind() == error_kind::unavailable);
}

TEST_CASE("a stranger that dribbles bytes does not stay") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  auto bytes = b.take(1 << 20);
  REQUIRE(a.it.tick(now).ok());
  status outcome;
  for (size_t i = 0; i < 6 && outcome.ok(); ++i) {
    REQUIRE(a.give(std::span{bytes}.subspan(i, 1)).ok());
    outcome = a.it.tick(now += 2s);
  }
  CHECK(outcome.kind() == error_kind::unavailable);
}

TEST_CASE("what belongs to the link is not sent by its owner") {
  peer_end a{options_of("task")};
  CHECK_FALSE(a.it.send(hello{}).ok());
  CHECK_FALSE(a.it.send(pull{1}).ok());
}

} // namespace
} // namespace troupe::test::link_test
