// Pulling of payloads when their step starts, and withdrawal of unwanted ones.
#include "tests/serialization/small_ops.hpp"
#include "tests/serialization/wire/task_end.hpp"
#include "troupe/serialization/wire/frame.hpp"

#include <map>
#include <set>

namespace troupe::test::link_withdraw_test {
namespace {

using Catch::Matchers::Contains;

const step_id first{7, 1}, second{7, 2};

} // namespace

TEST_CASE("a payload is pulled when its step has started, and not before") {
  task_end a, b;
  REQUIRE(talk(a, b));
  b.steps[first] = fetch_decision::later;
  REQUIRE(a.end_link.send(push(first, 500'000)));
  CHECK(a.announced.contains(first));
  a.taken = 0;
  REQUIRE(talk(a, b));
  CHECK(a.taken < 1000);
  CHECK(b.end_link.pending_bytes() < 2000);
  REQUIRE(
      a.end_link.send(push(second, 100'000))); // its step runs, so it does not wait for the first
  REQUIRE(talk(a, b));
  REQUIRE(b.got.size() == 1);
  CHECK(std::get<tensor_push>(b.got[0]).step == second);
  REQUIRE(b.become(first, fetch_decision::now));
  REQUIRE(b.end_link.review(first)); // a second review has no effect
  REQUIRE(talk(a, b));
  REQUIRE(b.got.size() == 2);
  CHECK(identical(std::get<tensor_push>(b.got[1]).value, counted(500'000)));
  check_clean(a, b);
}

TEST_CASE("small tensors, feeds and fetches do not wait for a step") {
  task_end a, b;
  REQUIRE(talk(a, b));
  b.steps[first] = b.steps[second] = fetch_decision::later;
  REQUIRE(a.end_link.send(push(first, 10)));
  REQUIRE(a.end_link.send(run_step{1, 1, first, 0, {{0, counted(100'000)}}}));
  REQUIRE(a.end_link.send(step_done{2, {}, {{0, counted(100'000)}}}));
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 3);
}

TEST_CASE("a payload announced for an ended step is never sent") {
  task_end a, b;
  REQUIRE(talk(a, b));
  b.steps[first] = fetch_decision::never;
  REQUIRE(a.end_link.send(push(first, 500'000)));
  a.taken = 0;
  REQUIRE(talk(a, b));
  CHECK(a.taken < 1000);
  CHECK(b.got.empty());
  check_clean(a, b);
}

TEST_CASE("a payload that waits for its step is dropped when the step is refused") {
  task_end a, b;
  REQUIRE(talk(a, b));
  b.steps[first] = fetch_decision::later;
  REQUIRE(a.end_link.send(push(first, 500'000)));
  REQUIRE(a.end_link.send(goodbye{"last"}));
  REQUIRE(talk(a, b));
  CHECK(b.got.empty()); // the goodbye follows all earlier messages
  REQUIRE(b.become(first, fetch_decision::never));
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 1);
  check_clean(a, b);
}

TEST_CASE("a step of a gigabyte that ends early costs no more than a window of chunks") {
  // The elements are never read: one page backs all of them where zero pages are not shared, and a
  // few chunks are checksummed.
  auto value = tensor::make(dtype::u8, shape{int64_t{1} << 30});
  REQUIRE(value);
  constexpr size_t window = 512 * 1024; // bytes per write
  task_end a, b;
  REQUIRE(talk(a, b));
  REQUIRE(a.end_link.send(tensor_push{first, 1, false, *value}));
  REQUIRE(b.give(a.take(window))); // the announcement
  REQUIRE(a.give(b.take(window))); // the pull
  for (int i = 0; i < 10; ++i)
    REQUIRE(b.give(a.take(window)));
  auto under_way = a.take(window); // ends with half a chunk
  CHECK(b.end_link.pending_bytes() > 1 << 30);
  a.taken = 0;
  REQUIRE(b.become(first, fetch_decision::never));
  CHECK(b.end_link.pending_bytes() < 2000); // immediately
  REQUIRE(b.give(under_way));
  REQUIRE(talk(a, b, window));
  CHECK(a.taken <= window + chunk_bytes);
  CHECK(b.got.empty());
  check_clean(a, b);
  REQUIRE(a.end_link.send(push(second, 100'000)));
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 1);
}

TEST_CASE("a sender withdraws unsent payloads in any state") {
  auto options = options_of("task");
  options.max_held_bytes = 3000; // a few concurrent messages
  options.max_announced_bytes = 10'000'000;
  task_end a{options}, b{options};
  REQUIRE(talk(a, b));
  SECTION("before the peer has pulled it") { b.steps[first] = fetch_decision::later; }
  SECTION("while it is sent") {}
  for (uint32_t key = 0; key < 10; ++key) // most are not announced yet
    REQUIRE(a.end_link.send(push(first, 200'000, key)));
  REQUIRE(a.end_link.send(push(second, 100'000)));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(b.give(a.take(300'000)));
    REQUIRE(a.give(b.take(300'000)));
  }
  auto received_before = b.got.size();
  a.taken = 0;
  REQUIRE(a.end_link.withdraw(first));
  REQUIRE(talk(a, b));
  CHECK(a.taken < 400'000 + 300'000 + 2 * chunk_bytes);
  REQUIRE(b.got.size() <= received_before + 2);
  CHECK(std::get<tensor_push>(b.got.back()).step == second);
  check_clean(a, b);
  REQUIRE(a.end_link.send(push(second, 2'400'000, 2))); // nearly all that may be announced
  REQUIRE(talk(a, b));
  check_clean(a, b);
}

TEST_CASE("a withdrawal and a pull may cross, and so may two withdrawals") {
  task_end a, b;
  REQUIRE(talk(a, b));
  REQUIRE(a.end_link.send(push(first, 500'000)));
  SECTION("sender withdraws, receiver pulls") {
    REQUIRE(b.give(a.take(1 << 20)));
    REQUIRE(a.end_link.withdraw(first));
  }
  SECTION("either end withdraws") {
    REQUIRE(b.give(a.take(1 << 20)));
    REQUIRE(b.become(first, fetch_decision::never));
    REQUIRE(a.end_link.withdraw(first));
  }
  SECTION("everything was sent before the withdrawal") {
    REQUIRE(b.give(a.take(1 << 20)));
    REQUIRE(a.give(b.take(1 << 20)));
    auto bytes_sent = a.take(4 << 20);
    REQUIRE(b.become(first, fetch_decision::never));
    auto late = b.take(1 << 20);
    REQUIRE(a.give(late)); // is ignored
    REQUIRE(b.give(bytes_sent));
  }
  REQUIRE(talk(a, b));
  CHECK(b.got.empty());
  check_clean(a, b);
}

TEST_CASE("a dropped payload's memory is available to others") {
  auto options = options_of("task");
  options.max_pending_bytes = 1'000'000;
  task_end a, b{options};
  REQUIRE(talk(a, b));
  REQUIRE(a.end_link.send(push(first, 200'000)));
  REQUIRE(a.end_link.send(push(second, 200'000)));
  REQUIRE(b.give(a.take(1 << 20)));
  a.take(0);
  CHECK(b.end_link.pending_bytes() < 900'000); // the second payload waits
  REQUIRE(b.become(first, fetch_decision::never));
  CHECK(b.end_link.pending_bytes() > 800'000);
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 1);
  check_clean(a, b);
}

TEST_CASE("messages of later steps do not block messages that already hold memory") {
  auto options = options_of("task");
  options.max_pending_bytes = 1'000'000;
  task_end a, b{options};
  REQUIRE(talk(a, b));
  b.steps[first] = fetch_decision::later;
  REQUIRE(a.end_link.send(push(first, 200'000)));
  REQUIRE(
      a.end_link.send(run_step{1, 1, second, 0, {{0, counted(200'000)}, {1, counted(200'000)}}}));
  REQUIRE(b.give(a.take(1 << 20)));
  REQUIRE(b.become(first, fetch_decision::now));
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 2);
  check_clean(a, b);
}

TEST_CASE("a tensor without memory fails only its step") {
  struct failing_allocator final : allocator {
    void* allocate(size_t) noexcept override { return nullptr; }
    void deallocate(void*, size_t) noexcept override {}
  } memory;
  auto options = options_of("task");
  options.memory = &memory;
  task_end a, b{options};
  REQUIRE(talk(a, b));
  REQUIRE(a.end_link.send(push(first, 100'000)));
  REQUIRE(talk(a, b));
  CHECK(b.lost[first].kind() == error_kind::resource_exhausted);
  CHECK(b.got.empty());
  check_clean(a, b);
  REQUIRE(a.end_link.send(push(first, 10)));
  REQUIRE(talk(a, b));
  CHECK(b.got.size() == 1);
}

TEST_CASE("invalid withdrawals end the connection, with a reason") {
  task_end a, b;
  REQUIRE(talk(a, b));
  b.steps[first] = fetch_decision::later;
  REQUIRE(a.end_link.send(push(first, 100'000)));
  REQUIRE(a.end_link.send(step_done{1, {}, {{0, counted(100'000)}}}));
  REQUIRE(b.give(a.take(1 << 20)));
  auto give = [](task_end& to, const message& sent) {
    auto encoded = encode(sent);
    REQUIRE(encoded);
    REQUIRE(to.end_link.receive(header_for(frame_kind::message, 0, encoded->bytes)));
    return to.end_link.receive(encoded->bytes);
  };
  SECTION("an unknown payload is unwanted") {
    CHECK_THAT(give(a, cancel_pull{3}).message(), Contains("payload 3, which was not announced"));
  }
  SECTION("a payload without a step is unwanted") {
    CHECK_THAT(give(a, cancel_pull{2}).message(), Contains("which begins no tensor_push"));
  }
  SECTION("an unknown payload is pulled") {
    CHECK_THAT(give(a, pull{3}).message(), Contains("does not wait to be pulled"));
  }
  SECTION("a withdrawn payload is pulled: the messages crossed") {
    REQUIRE(a.end_link.withdraw(first));
    CHECK(give(a, pull{1}).ok());
    CHECK(give(a, cancel_pull{1}).ok());
  }
  SECTION("an unknown payload is withdrawn") {
    CHECK_THAT(give(b, withdrawal{3}).message(), Contains("payload 3 is withdrawn"));
  }
  SECTION("a payload without a step is withdrawn") {
    CHECK_THAT(give(b, withdrawal{2}).message(), Contains("begins no tensor_push"));
  }
  SECTION("a payload is withdrawn twice") {
    CHECK(give(b, withdrawal{1}).ok());
    CHECK_THAT(give(b, withdrawal{1}).message(), Contains("payload 1 is withdrawn"));
  }
}

TEST_CASE("an abandoned end holds no memory") {
  task_end a, b;
  REQUIRE(talk(a, b));
  REQUIRE(a.end_link.send(push(first, 500'000)));
  REQUIRE(b.give(a.take(1 << 20)));
  REQUIRE(a.give(b.take(1 << 20)));
  REQUIRE(b.give(a.take(300'000)));
  CHECK(b.end_link.pending_bytes() > 2'000'000);
  b.end_link.abandon(failure(error_kind::unavailable, "gone"));
  CHECK(b.end_link.pending_bytes() == 0);
  CHECK(b.end_link.review(first).kind() == error_kind::unavailable);
  CHECK(b.end_link.withdraw(first).kind() == error_kind::unavailable);
}

namespace {

// Two ends with random limits, and the bytes between them.
class random_conversation {
public:
  explicit random_conversation(std::mt19937_64& random)
      : random_(random), options_(draw_options()), a_(lending_options()), b_(options_) {
    if (random_() % 2 == 0)
      b_.read_from(a_, 100'000);
    REQUIRE(talk(a_, b_));
  }

  // A push, a change of a step, or the transfer of some bytes.
  void act() {
    step_id step{1, random_() % 8};
    switch (random_() % 8) {
      case 0:
        if (sent_ < 60 && !withdrawn_steps_.contains(step) && ++sent_)
          REQUIRE(a_.end_link.send(push(step, static_cast<int64_t>(random_() % 100'000))));
        break;
      case 1:
        if (b_.steps[step] != fetch_decision::never)
          REQUIRE(b_.become(step, random_() % 2 ? fetch_decision::now : fetch_decision::later));
        break;
      case 2:
        if (random_() % 8 == 0)
          REQUIRE(b_.become(step, fetch_decision::never));
        break;
      case 3:
        if (random_() % 8 == 0) {
          REQUIRE(a_.end_link.withdraw(step));
          withdrawn_steps_.insert(step);
        }
        break;
      default: transfer();
    }
  }

  // Starts all steps that have not ended, and transfers all bytes.
  void finish() {
    for (uint64_t i = 0; i < 8; ++i)
      if (b_.steps[{1, i}] != fetch_decision::never)
        REQUIRE(b_.become({1, i}, fetch_decision::now));
    for (bool moved = true; moved;) {
      moved = a_.end_link.fill(to_b_, 1 << 20) + b_.end_link.fill(to_a_, 1 << 20) + to_a_.size() +
                  to_b_.size() >
              0;
      REQUIRE(a_.give(std::exchange(to_a_, {})));
      REQUIRE(b_.give(std::exchange(to_b_, {})));
      moved = moved || *b_.end_link.read_lent(1 << 20) > 0;
    }
  }

  void check_that_credits_returned() {
    CHECK(!b_.end_link.has_lent_payloads());
    check_clean(a_, b_);
  }

private:
  link_options draw_options() {
    auto options = options_of("task");
    options.max_pending_bytes = random_() % 1'000'000;
    options.max_held_bytes = 1000 + random_() % 20'000;
    return options;
  }
  link_options lending_options() const {
    auto lending = options_;
    lending.memory_token = std::make_shared<lending_token>();
    lending.memory_token->words[0] = 1;
    return lending;
  }

  size_t portion() { return 1 + random_() % (1ull << (4 + random_() % 16)); }

  void give(task_end& to, std::vector<char>& wire) {
    auto size = std::min(wire.size(), portion());
    auto outcome = to.give(std::span{wire}.first(size));
    INFO(outcome);
    REQUIRE(outcome.ok());
    wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(size));
  }

  void transfer() {
    a_.end_link.fill(to_b_, portion());
    b_.end_link.fill(to_a_, portion());
    give(a_, to_a_);
    give(b_, to_b_);
    REQUIRE(b_.end_link.read_lent(random_() % 200'000));
  }

  std::mt19937_64& random_;
  link_options options_;
  task_end a_, b_;
  std::set<step_id> withdrawn_steps_;
  std::vector<char> to_a_, to_b_; // on the wire
  size_t sent_ = 0;
};

} // namespace

TEST_CASE("credits return for any order of starts, ends and withdrawals") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 30; ++round) {
    random_conversation conversation{random};
    for (int event = 0; event < 600; ++event)
      conversation.act();
    conversation.finish();
    conversation.check_that_credits_returned();
  }
}

} // namespace troupe::test::link_withdraw_test
