#include "tests/serialization/small_ops.hpp"
#include "tests/serialization/wire/link_pair.hpp"
#include "tests/support/catch.hpp"
#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/wire/build_identity.hpp"
#include "troupe/serialization/wire/frame.hpp"

namespace troupe::test::link_test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("two ends exchange hellos, then messages") {
  peer_end client{options_of("client", "")}, task{options_of("task", "worker", 3)};
  CHECK(client.end_link.peer() == nullptr);
  REQUIRE(exchange(client, task).ok());
  REQUIRE(client.end_link.peer());
  CHECK(client.end_link.peer()->job == "worker");
  CHECK(client.end_link.peer()->task == 3);
  CHECK(task.end_link.peer()->role == "client");

  REQUIRE(client.end_link.send(device_list_request{7}).ok());
  REQUIRE(exchange(client, task).ok());
  REQUIRE(task.got.size() == 1);
  CHECK(print(task.got[0]) == print(device_list_request{7}));
}

TEST_CASE("messages sent before the peer's hello wait for it") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(100'000)}).ok());
  auto first = a.take(1 << 20);
  CHECK(first.size() < 4096); // only the hello
  CHECK(a.end_link.idle());
  CHECK_FALSE(a.end_link.drained());
  REQUIRE(b.give(first).ok());
  REQUIRE(exchange(a, b).ok());
  CHECK(b.got.size() == 1);
  CHECK(a.end_link.drained());
}

TEST_CASE("an unknown protocol's first bytes are quoted") {
  peer_end task{options_of("task")};
  std::string_view request = "GET / HTTP/1.1\r\nHost: worker\r\n";
  auto outcome = task.give(request);
  CHECK(outcome.kind() == error_kind::invalid_argument);
  CHECK(outcome.message() == "the peer does not speak Troupe's protocol: got 'GET / HTTP/1.1..…'");
  CHECK(task.give(request).message() == outcome.message());
}

TEST_CASE("a peer gets no memory before its hello") {
  peer_end task{options_of("task")};
  auto header = write_header({.kind = frame_kind::message, .size = 1 << 20});
  CHECK(task.end_link.receive(header).kind() == error_kind::resource_exhausted);

  peer_end stranger{options_of("task")};
  auto push = encode(tensor_push{{0, 1}, 2, false, counted(100'000)});
  REQUIRE(push);
  auto frame = header_for(frame_kind::message, 1, push->bytes);
  REQUIRE(stranger.end_link.receive(frame).ok());
  CHECK_THAT(stranger.end_link.receive(push->bytes).message(),
             Contains("before it has introduced itself"));
}

TEST_CASE("a refused end receives the reason") {
  auto refuse = [](const hello& peer_hello) {
    return failure(error_kind::aborted, "incarnation ", peer_hello.incarnation, " is stale");
  };
  peer_end old{options_of("task")}, task{options_of("task"), refuse};
  auto hello_bytes = old.take(1 << 20);
  CHECK(task.give(hello_bytes).kind() == error_kind::aborted);
  auto outcome = old.give(task.take(1 << 20));
  CHECK(outcome.kind() == error_kind::aborted);
  CHECK_THAT(outcome.message(), Contains("incarnation 1 is stale"));
  CHECK(old.end_link.send(ping{}).kind() != error_kind::ok);
  CHECK(old.end_link.send(goodbye{}).kind() == error_kind::aborted);
}

TEST_CASE("roles and versions that cannot work together are refused with a readable reason") {
  auto outcome_of = [](hello peer_hello) {
    auto bytes = encode(peer_hello);
    REQUIRE(bytes);
    peer_end task{options_of("task")};
    REQUIRE(task.end_link.receive(header_for(frame_kind::message, 0, bytes->bytes)).ok());
    return task.end_link.receive(bytes->bytes);
  };
  hello good{.software = "9.9",
             .role = "task",
             .job = "worker",
             .incarnation = 1,
             .max_message = 1 << 20,
             .max_tensor_bytes = 1 << 20,
             .schema = wire_schema_hash(),
             .build = "0123456789ab"};
  CHECK(outcome_of(good).ok());
  auto changed_hello = good;
  changed_hello.version = 7;
  CHECK_THAT(outcome_of(changed_hello).message(), Contains("(Troupe 9.9) speaks version 7"));
  changed_hello = good;
  changed_hello.task = 65'536;
  CHECK_THAT(outcome_of(changed_hello).message(), Contains("at most 65536 tasks"));
  changed_hello.task = 65'535;
  CHECK(outcome_of(changed_hello));
  changed_hello.role = "king";
  CHECK_THAT(outcome_of(changed_hello).message(), Contains("task or client, got 'king'"));
  changed_hello = good;
  changed_hello.job = "";
  CHECK_THAT(outcome_of(changed_hello).message(), Contains("names no task"));
  changed_hello = good;
  changed_hello.max_message = 3;
  CHECK_FALSE(outcome_of(changed_hello).ok());
  changed_hello = good;
  changed_hello.build = "another commit with the same messages";
  CHECK(outcome_of(changed_hello));
  changed_hello.build = std::string(max_build_name + 1, 'x');
  CHECK_THAT(outcome_of(changed_hello).message(), Contains("names its build with 65 bytes"));
}

// The bytes of a hello from another build.
std::vector<std::byte> bytes_of(const hello& peer_hello) {
  auto body = encode(peer_hello);
  REQUIRE(body);
  auto header = header_for(frame_kind::message, 0, body->bytes);
  std::vector<std::byte> bytes{header.begin(), header.end()};
  bytes.insert(bytes.end(), body->bytes.begin(), body->bytes.end());
  return bytes;
}

TEST_CASE(
    "two builds with different messages report that in a sentence that names the two builds") {
  hello other_hello{.software = "0.1.0",
                    .role = "task",
                    .job = "worker",
                    .task = 2,
                    .incarnation = 1,
                    .max_message = 1 << 20,
                    .max_tensor_bytes = 1 << 20,
                    .schema = 0xfedcba9876543210,
                    .build = "0123456789ab"};
  peer_end local_end{options_of("task", "ps", 1)};
  auto refusal = local_end.end_link.receive(bytes_of(other_hello));
  CHECK(refusal.kind() == error_kind::failed_precondition);
  CHECK(refusal.message() ==
        concat("the builds at the two ends differ: /job:worker/task:2 is Troupe 0.1.0, build "
               "0123456789ab, message schema fedcba9876543210; /job:ps/task:1 is Troupe 0.1.0, "
               "build ",
               build_commit(), ", message schema ", to_hex(wire_schema_hash()),
               "; run the same build at both ends"));
  // The other end receives the same text.
  auto bytes_sent = local_end.take(1 << 20);
  peer_end remote_end{options_of("task", "worker", 2)};
  CHECK_THAT(remote_end.give(bytes_sent).message(), Contains(refusal.message()));

  // A build from before this field existed, and one whose names are not printable.
  other_hello.schema = 0;
  other_hello.build.clear();
  peer_end second{options_of("client", "")};
  CHECK_THAT(second.end_link.receive(bytes_of(other_hello)).message(),
             Contains("/job:worker/task:2 is Troupe 0.1.0 of a build whose hello does not name it; "
                      "a client is Troupe 0.1.0, build"));
  other_hello.schema = 1;
  other_hello.software = "\x1b[31m" + std::string(1000, 'v');
  other_hello.build = "\x07\n";
  peer_end third{options_of("client", "")};
  auto safe = third.end_link.receive(bytes_of(other_hello)).message();
  CHECK_THAT(safe, Contains("Troupe ?[31mvvv") && Contains("build ??, message"));
  CHECK(safe.size() < 512);
}

TEST_CASE("no message waits for another's payload, except those that must come last") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(run_step{1, 1, {0, 1}, 0, {{0, counted(500'000)}}}).ok());
  REQUIRE(a.end_link.send(deregister_graph{7}).ok());
  REQUIRE(a.end_link.send(run_step{2, 1, {0, 2}, 0, {}}).ok());
  REQUIRE(a.end_link.send(step_done{3, {}, {{0, counted(5'000)}}}).ok());
  REQUIRE(a.end_link.send(goodbye{"done"}).ok());
  REQUIRE(a.end_link.send(run_step{4, 1, {0, 3}, 0, {}}).ok());
  REQUIRE(exchange(a, b).ok());
  REQUIRE(b.got.size() == 6);
  CHECK(std::get<run_step>(b.got[0]).request == 2);
  CHECK(std::get<step_done>(b.got[1]).request == 3);
  CHECK(std::get<run_step>(b.got[2]).request == 4);
  CHECK(std::get<run_step>(b.got[3]).request == 1);
  CHECK(std::get<deregister_graph>(b.got[4]).handle == 7);
  CHECK(std::holds_alternative<goodbye>(b.got[5]));
  CHECK(identical(std::get<run_step>(b.got[3]).feeds[0].value, counted(500'000)));
  CHECK(b.end_link.pending_bytes() == 0);
  CHECK(a.end_link.drained());
}

TEST_CASE("regular traffic stays within the receiver's limit") {
  auto options = options_of("task");
  options.max_held_bytes = 100'000;
  peer_end a{options}, b{options};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(step_done{0, {}, {{0, counted(2'000'000)}}}).ok());
  // Much more than the limit of the receiver.
  for (uint64_t i = 1; i <= 1000; ++i)
    REQUIRE(a.end_link.send(step_done{i, {}, {{0, counted(10'000)}, {1, counted(20'000)}}}).ok());
  REQUIRE(a.end_link.send(reply{5, {}}).ok());
  uint64_t max_held = 0;
  for (bool moved = true; moved;) {
    auto to_b = a.take(50'000), to_a = b.take(50'000);
    moved = !to_b.empty() || !to_a.empty();
    auto outcome = b.give(to_b);
    INFO(outcome);
    REQUIRE(outcome.ok());
    REQUIRE(a.give(to_a).ok());
    max_held = std::max(max_held, b.end_link.pending_bytes());
  }
  CHECK(b.got.size() == 1002);
  CHECK(a.end_link.drained());
}

TEST_CASE("the queue for a peer that does not read is limited, and further sends fail") {
  auto options = options_of("task", "worker", 4);
  options.max_queued_bytes = 100'000;
  options.max_announced_bytes = 1'000'000;
  peer_end a{options}, b{options};
  REQUIRE(exchange(a, b).ok());
  SECTION("messages") {
    status outcome;
    int sent = 0;
    for (; outcome.ok() && sent < 1000; ++sent)
      outcome = a.end_link.send(tensor_push{{0, 1}, 1, false, counted(2'500)});
    CHECK(sent < 12);
    CHECK(outcome.kind() == error_kind::resource_exhausted);
    CHECK_THAT(outcome.message(),
               Contains("tensor_push to /job:worker/task:4") &&
                   Contains("bytes of messages are queued already, the limit is 100000"));
    // This message can still be sent.
    CHECK(a.end_link.send(step_done{1, outcome, {}}).ok());
    CHECK(a.end_link.send(cancel_step{{0, 1}, {}}).ok());
  }
  SECTION("payloads") {
    CHECK(a.end_link.send(tensor_push{{0, 1}, 1, false, counted(500'000)})
              .ok()); // a single payload may be larger
    auto outcome = a.end_link.send(tensor_push{{0, 1}, 2, false, counted(50'000)});
    CHECK(outcome.kind() == error_kind::resource_exhausted);
    CHECK_THAT(outcome.message(), Contains("2000000 bytes of tensors are queued already"));
  }
  REQUIRE(exchange(a, b).ok());
  CHECK(a.end_link.drained());
  CHECK(a.end_link.send(tensor_push{{0, 2}, 1, false, counted(2'500)}).ok());
}

TEST_CASE("waiting messages are written together, and unwritten bytes are offered again") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  for (uint32_t i = 0; i < 10; ++i)
    REQUIRE(a.end_link.send(tensor_push{{0, 1}, i, false, counted(1)}).ok());
  std::vector<std::span<const std::byte>> pieces, again;
  auto size = a.end_link.gather(pieces, 1 << 20);
  CHECK(pieces.size() == 20); // headers and bodies
  std::vector<std::byte> bytes_written;
  for (auto piece : pieces)
    bytes_written.insert(bytes_written.end(), piece.begin(), piece.end());
  REQUIRE(bytes_written.size() == size);
  a.end_link.sent(100);
  REQUIRE(a.end_link.send(cancel_step{{0, 2}, {}}).ok()); // does not overtake a message in progress
  CHECK(a.end_link.gather(again, size - 100) == size - 100);
  CHECK(again.front().data() == pieces[1].data() + 100 - frame_header_bytes);
  a.end_link.sent(size - 100);
  REQUIRE(b.end_link.receive(bytes_written).ok());
  CHECK(b.got.size() == 10);
  REQUIRE(exchange(a, b).ok());
  CHECK(b.got.size() == 11);
}

TEST_CASE("bytes that are read directly into a payload need no receive()") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  CHECK(b.end_link.receive_space().empty());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(100'000)}).ok());
  REQUIRE(b.give(a.take(1 << 20)).ok());
  REQUIRE(a.give(b.take(1 << 20)).ok()); // the pull
  size_t straight = 0;
  std::vector<std::span<const std::byte>> pieces;
  for (auto size = a.end_link.gather(pieces, 7000); size > 0;
       size = a.end_link.gather(pieces, 7000)) {
    for (auto piece : pieces) {
      auto gap = b.end_link.receive_space();
      auto byte_count = std::min(piece.size(), gap.size());
      if (byte_count > 0) {
        std::memcpy(gap.data(), piece.data(), byte_count);
        REQUIRE(b.end_link.commit(byte_count).ok());
        straight += byte_count;
      }
      REQUIRE(b.end_link.receive(piece.subspan(byte_count)).ok());
    }
    a.end_link.sent(size);
    pieces.clear();
  }
  REQUIRE(b.got.size() == 1);
  CHECK(identical(std::get<tensor_push>(b.got[0]).value, counted(100'000)));
  CHECK(straight == 400'000); // all except the headers
}

TEST_CASE("a small tensor and a cancellation overtake a message that waits for its payload") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(run_step{1, 1, {0, 1}, 0, {{0, counted(500'000)}}}).ok());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(10)}).ok());
  REQUIRE(a.end_link.send(cancel_step{{0, 1}, failure(error_kind::cancelled, "")}).ok());
  REQUIRE(b.give(a.take(1 << 20)).ok());
  REQUIRE(b.got.size() == 2);
  CHECK(std::holds_alternative<cancel_step>(b.got[0]));
  CHECK(std::holds_alternative<tensor_push>(b.got[1]));
}

TEST_CASE("a ping waits for one chunk at most, not for a payload") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(4'000'000)}).ok());
  REQUIRE(b.give(a.take(1 << 20)).ok());
  REQUIRE(a.give(b.take(1 << 20)).ok()); // the pull
  a.take(10);                            // a chunk has started
  REQUIRE(a.end_link.send(cancel_step{{0, 9}, {}}).ok());
  auto next = a.take(chunk_bytes + 1000);
  std::array<std::byte, 4> magic{};
  std::memcpy(magic.data(), next.data() + frame_header_bytes - 10 + chunk_bytes, 4);
  auto kind = next[frame_header_bytes - 10 + chunk_bytes + 4];
  CHECK(std::memcmp(magic.data(), &frame_magic, 4) == 0);
  CHECK(kind == static_cast<char>(frame_kind::message));
}

TEST_CASE("payloads alternate, chunk by chunk") {
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 1, false, counted(1'000'000)}).ok());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 2, false, counted(70'000)}).ok());
  REQUIRE(exchange(a, b, chunk_bytes).ok());
  REQUIRE(b.got.size() == 2);
  CHECK(std::get<tensor_push>(b.got[0]).key == 2); // the small one was complete first
}

TEST_CASE("a receiver's concurrent pulls stay within its limit, and everything arrives") {
  auto options = options_of("task");
  options.max_pending_bytes = 1'000'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  for (uint32_t i = 0; i < 10; ++i)
    REQUIRE(a.end_link.send(tensor_push{{0, 1}, i, false, counted(100'000)}).ok());
  // A single message may exceed the limit.
  REQUIRE(a.end_link.send(run_step{1, 1, {0, 1}, 0, {{0, counted(200'000)}, {1, counted(200'000)}}})
              .ok());
  uint64_t max_pulled = 0;
  for (bool moved = true; moved;) {
    auto to_b = a.take(50'000), to_a = b.take(50'000);
    moved = !to_b.empty() || !to_a.empty();
    REQUIRE(b.give(to_b).ok());
    REQUIRE(a.give(to_a).ok());
    max_pulled = std::max(max_pulled, b.end_link.pending_bytes());
  }
  CHECK(b.got.size() == 11);
  CHECK(max_pulled < 1'700'000);
}

TEST_CASE("a tensor that the receiver does not accept is refused by the sender") {
  auto options = options_of("task");
  options.max_tensor_bytes = 300'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  auto outcome = a.end_link.send(tensor_push{{0, 1}, 1, false, counted(100'000)});
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(), Contains("/job:worker/task:0 accepts: 300000"));
  REQUIRE(exchange(a, b).ok());
  CHECK(a.end_link.send(tensor_push{{0, 1}, 1, false, counted(70'000)}).ok());
}

TEST_CASE("a peer that announces more than allowed is disconnected before memory is taken") {
  auto options = options_of("task");
  options.max_tensor_bytes = 300'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 1, false, counted(100'000)})
              .ok()); // it does not know the limit
  auto outcome = exchange(a, b);
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK(b.end_link.pending_bytes() == 0);
  // The peer receives the reason.
  CHECK_THAT(a.give(b.take(1 << 20)).message(), Contains("payloads of more than 300000 bytes"));
}

TEST_CASE("a peer that leaves messages incomplete forever is disconnected") {
  auto options = options_of("task");
  options.max_held_bytes = 20'000;
  peer_end a{options_of("task")}, b{options};
  REQUIRE(exchange(a, b).ok());
  for (uint32_t i = 0; i < 100; ++i)
    REQUIRE(a.end_link.send(tensor_push{{0, 1}, i, false, counted(20'000)}).ok());
  CHECK(b.give(a.take(1 << 20)).kind() == error_kind::resource_exhausted);
}

TEST_CASE("silence is answered with a ping, and then with unavailable") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.end_link.tick(now).ok());
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.tick(now += 3s).ok()); // heard from the peer
  CHECK(a.end_link.idle());
  REQUIRE(a.end_link.tick(now += 3s).ok());
  CHECK(a.end_link.idle());
  REQUIRE(a.end_link.tick(now += 1s).ok());
  CHECK_FALSE(a.end_link.idle()); // a ping
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.tick(now += 3s).ok()); // the pong was received
  CHECK(a.end_link.idle());
  CHECK(b.got.empty());

  for (int i = 0; i < 3; ++i)
    REQUIRE(a.end_link.tick(now += 3s).ok());
  auto outcome = a.end_link.tick(now += 1s);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(outcome.message() == "nothing was heard from /job:worker/task:0 for 10000 ms");
  CHECK(a.end_link.receive({}).kind() == error_kind::unavailable);
}

TEST_CASE("an end that was paused does not count that time against its peer, up to a limit") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(a.end_link.tick(now).ok());
  REQUIRE(exchange(a, b).ok());
  for (int i = 0; i < 3; ++i)
    REQUIRE(a.end_link.tick(now += 1600ms).ok());
  REQUIRE(a.end_link.tick(now += 60s).ok()); // its process was paused
  REQUIRE(exchange(a, b).ok());              // the bytes that arrived meanwhile
  REQUIRE(a.end_link.tick(now += 1600ms).ok());
  for (int i = 0; i < 6; ++i) // a silent peer still times out: a sixth of the pause counts
    REQUIRE(a.end_link.tick(now += 6s).ok());
  CHECK(a.end_link.tick(now += 6s).kind() == error_kind::unavailable);
}

TEST_CASE("a peer that reads a message slowly counts as alive") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  REQUIRE(exchange(a, b).ok());
  REQUIRE(a.end_link.send(tensor_push{{0, 1}, 1, false, counted(10'000)}).ok());
  for (int i = 0; i < 20; ++i, now += 1s) {
    REQUIRE(a.end_link.tick(now).ok());
    REQUIRE(b.end_link.tick(now).ok());
    REQUIRE(b.give(a.take(10)).ok());
    REQUIRE(a.give(b.take(1 << 20)).ok());
  }
  CHECK(b.got.empty());
  auto remaining = a.take(1 << 20);
  CHECK(remaining.size() < 45'000); // a pull does not wait behind a waiting message
  REQUIRE(b.give(remaining).ok());
  CHECK(b.got.size() == 1);
}

TEST_CASE("a peer with a longer timeout is pinged, even by an end that writes continuously") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  auto patient = options_of("task"), hasty = patient;
  hasty.timeout = 3s;
  patient.timeout = 60s;
  peer_end a{hasty}, b{patient};
  REQUIRE(exchange(a, b).ok());
  for (int i = 0; i < 20; ++i, now += 1s) {
    REQUIRE(a.end_link.send(deregister_graph{7}).ok());
    REQUIRE(a.end_link.tick(now).ok());
    REQUIRE(b.end_link.tick(now).ok());
    REQUIRE(exchange(a, b).ok());
  }
  CHECK(b.got.size() == 20);
}

TEST_CASE("a peer that sends its hello too slowly is disconnected") {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::time_point{} + 1h;
  peer_end a{options_of("task")}, b{options_of("task")};
  auto bytes = b.take(1 << 20);
  REQUIRE(a.end_link.tick(now).ok());
  status outcome;
  for (size_t i = 0; i < 6 && outcome.ok(); ++i) {
    REQUIRE(a.give(std::span{bytes}.subspan(i, 1)).ok());
    outcome = a.end_link.tick(now += 2s);
  }
  CHECK(outcome.kind() == error_kind::unavailable);
}

TEST_CASE("the link's own messages cannot be sent by its owner") {
  peer_end a{options_of("task")};
  CHECK_FALSE(a.end_link.send(hello{}).ok());
  CHECK_FALSE(a.end_link.send(pull{1}).ok());
}

} // namespace
} // namespace troupe::test::link_test
