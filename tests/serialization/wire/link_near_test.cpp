// Payloads that a process on the same machine reads directly from the sender's memory.
#include "tests/serialization/small_ops.hpp"
#include "tests/serialization/wire/task_end.hpp"
#include "troupe/serialization/wire/frame.hpp"

namespace troupe::test::link_near_test {
namespace {

using Catch::Matchers::Contains;

const step_id first{7, 1}, second{7, 2};

link_options lending() {
  auto options = options_of("task");
  options.memory_token = std::make_shared<lending_token>();
  options.memory_token->words[0] = 1;
  return options;
}

// Two ends, of which b reads the memory that a lends.
struct near_pair {
  task_end a{lending()}, b;
  near_pair() {
    b.read_from(a, 100'000);
    REQUIRE(talk(a, b));
  }
  // Sends a tensor, and stops when it is lent.
  tensor lend(step_id step, int64_t elements) {
    auto value = counted(elements);
    REQUIRE(a.end_link.send(tensor_push{step, 1, false, value}));
    a.taken = 0;
    REQUIRE(talk(a, b));
    REQUIRE(b.end_link.has_lent_payloads());
    REQUIRE(!value.unique());
    return value;
  }
};

status hear(task_end& to, const message& received) {
  auto encoded = encode(received);
  REQUIRE(encoded);
  REQUIRE(to.end_link.receive(header_for(frame_kind::message, 0, encoded->bytes)));
  return to.end_link.receive(encoded->bytes);
}

} // namespace

TEST_CASE("a large payload is read in place, and then its sender may release it") {
  near_pair pair;
  auto value = pair.lend(first, 500'000);
  while (pair.b.end_link.has_lent_payloads()) {
    CHECK(!value.unique());
    REQUIRE(pair.b.end_link.read_lent(300'000));
    REQUIRE(talk(pair.a, pair.b));
  }
  CHECK(pair.a.taken < 1000);
  CHECK(pair.b.read == 2'000'000);
  REQUIRE(pair.b.got.size() == 1);
  CHECK(identical(std::get<tensor_push>(pair.b.got[0]).value, value));
  CHECK(value.unique());
  check_clean(pair.a, pair.b);
}

TEST_CASE("small payloads, and payloads of a peer that does not lend, arrive in chunks") {
  near_pair pair;
  REQUIRE(pair.a.end_link.send(push(first, 20'000)));
  REQUIRE(pair.b.end_link.send(push(first, 500'000))); // this end does not request to read
  REQUIRE(talk(pair.a, pair.b));
  CHECK(pair.b.got.size() == 1);
  CHECK(pair.a.got.size() == 1);
  task_end stingy, other;
  other.read_from(stingy, 100'000);
  REQUIRE(talk(stingy, other));
  REQUIRE(stingy.end_link.send(push(first, 500'000)));
  REQUIRE(talk(stingy, other));
  CHECK(other.got.size() == 1);
  CHECK(other.read == 0);
  check_clean(stingy, other);
}

TEST_CASE("feeds and fetches are read in place, too, and goodbye waits for them") {
  near_pair pair;
  REQUIRE(
      pair.a.end_link.send(run_step{1, 1, first, 0, {{0, counted(50'000)}, {1, counted(60'000)}}}));
  REQUIRE(pair.a.end_link.send(goodbye{"last"}));
  REQUIRE(talk(pair.a, pair.b));
  CHECK(pair.b.got.empty());
  REQUIRE(*pair.b.end_link.read_lent(1 << 20) == 440'000);
  REQUIRE(talk(pair.a, pair.b));
  REQUIRE(pair.b.got.size() == 2);
  CHECK(identical(std::get<run_step>(pair.b.got[0]).feeds[1].value, counted(60'000)));
  check_clean(pair.a, pair.b);
}

TEST_CASE("lent memory stays until it is returned, even if it is withdrawn") {
  near_pair pair;
  auto value = pair.lend(first, 500'000);
  REQUIRE(*pair.b.end_link.read_lent(300'000) == 300'000);
  REQUIRE(pair.a.end_link.withdraw(first));
  auto news = pair.a.take(1 << 20);
  CHECK(!value.unique());
  REQUIRE(*pair.b.end_link.read_lent(300'000) == 300'000); // before the withdrawal arrives
  REQUIRE(pair.b.give(news));
  CHECK(!pair.b.end_link.has_lent_payloads());
  REQUIRE(talk(pair.a, pair.b));
  CHECK(value.unique());
  CHECK(pair.b.got.empty());
  check_clean(pair.a, pair.b);
}

TEST_CASE("an unwanted payload is returned without being read") {
  near_pair pair;
  auto value = pair.lend(first, 500'000);
  REQUIRE(*pair.b.end_link.read_lent(300'000) == 300'000);
  REQUIRE(pair.b.become(first, fetch_decision::never));
  SECTION("immediately") {}
  SECTION("while the sender withdraws it") { REQUIRE(pair.a.end_link.withdraw(first)); }
  REQUIRE(*pair.b.end_link.read_lent(300'000) == 0);
  CHECK(!pair.b.end_link.has_lent_payloads());
  REQUIRE(talk(pair.a, pair.b));
  CHECK(value.unique());
  CHECK(pair.b.got.empty());
  check_clean(pair.a, pair.b);
}

TEST_CASE("a payload that is withdrawn before it is lent or read is not delivered") {
  near_pair pair;
  REQUIRE(pair.a.end_link.send(push(first, 500'000)));
  REQUIRE(pair.b.give(pair.a.take(1 << 20)));
  auto asks = pair.b.take(1 << 20);
  SECTION("before it is lent") { REQUIRE(pair.a.end_link.withdraw(first)); }
  SECTION("after it was read") {
    REQUIRE(pair.a.give(asks));
    asks.clear();
    REQUIRE(pair.b.give(pair.a.take(1 << 20)));
    REQUIRE(*pair.b.end_link.read_lent(1 << 30) == 2'000'000);
    REQUIRE(pair.a.end_link.withdraw(first));
    REQUIRE(talk(pair.a, pair.b));
    CHECK(pair.b.got.size() == 1); // it was complete
    check_clean(pair.a, pair.b);
    return;
  }
  REQUIRE(pair.a.give(asks));
  REQUIRE(talk(pair.a, pair.b));
  CHECK(pair.b.got.empty());
  check_clean(pair.a, pair.b);
}

TEST_CASE("a lender revokes a loan before the memory changes, and a reader notices") {
  near_pair pair;
  auto value = pair.lend(first, 500'000);
  SECTION("the connection fails") { CHECK(!hear(pair.a, withdrawal{17}).ok()); }
  SECTION("the connection is over") {
    pair.a.end_link.abandon(failure(error_kind::unavailable, "gone"));
  }
  CHECK(value.unique());
  auto outcome = pair.b.end_link.read_lent(300'000);
  CHECK(outcome.status().kind() == error_kind::unavailable);
  CHECK(pair.b.got.empty());
  CHECK(pair.b.end_link.receive({}).kind() == error_kind::unavailable);
}

TEST_CASE("invalid loans end the connection, with a reason") {
  near_pair pair;
  SECTION("an unrequested loan") {
    CHECK_THAT(hear(pair.b, loan{1, 4096}).message(), Contains("payload 1 is lent"));
  }
  SECTION("an invalid address") {
    REQUIRE(pair.a.end_link.send(push(first, 500'000)));
    REQUIRE(pair.b.give(pair.a.take(1 << 20)));
    REQUIRE(hear(pair.b, loan{1, 8}));
    CHECK_THAT(pair.b.end_link.read_lent(100).status().message(), Contains("which is not mapped"));
  }
  SECTION("lent twice") {
    pair.lend(first, 500'000);
    CHECK_THAT(hear(pair.b, loan{1, 4096}).message(), Contains("payload 1 is lent"));
  }
  SECTION("lent and sent") {
    pair.lend(first, 500'000);
    std::array<std::byte, 16> chunk{};
    CHECK_THAT(pair.b.end_link.receive(header_for(frame_kind::chunk, 1, chunk)).message(),
               Contains("which was lent"));
  }
  SECTION("returned twice") {
    pair.lend(first, 500'000);
    REQUIRE(hear(pair.a, loan_return{1}));
    CHECK_THAT(hear(pair.a, loan_return{1}).message(), Contains("which was not lent"));
  }
  SECTION("lent and pulled") {
    pair.lend(first, 500'000);
    CHECK_THAT(hear(pair.a, pull{1}).message(), Contains("does not wait to be pulled"));
  }
}

} // namespace troupe::test::link_near_test
