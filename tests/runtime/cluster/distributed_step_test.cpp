#include "troupe/runtime/cluster/distributed_step.hpp"

#include "tests/support/catch.hpp"

#include <random>

namespace troupe::test::distributed_step_test {

using next = distributed_step::next;

namespace {

status broken(const char* text) { return failure(error_kind::internal, text); }

} // namespace

TEST_CASE("a distributed step ends when all tasks have answered") {
  distributed_step step{3};
  CHECK(step.answer(0, {}) == next::wait);
  CHECK(step.answer(2, {}) == next::wait);
  CHECK(step.answer(2, {}) == next::wait); // a repeated answer
  CHECK(step.silent(1));
  CHECK(step.answer(1, {}) == next::end);
  CHECK(step.outcome().ok());
  CHECK(step.end_now() == next::wait);
}

TEST_CASE("the first error cancels the other tasks once, and is the outcome") {
  distributed_step step{3};
  CHECK(step.answer(0, broken("cause")) == next::cancel_others);
  CHECK(step.fail(broken("late")) == next::wait);
  CHECK(step.answer(1, broken("echo")) == next::wait);
  CHECK(step.answer(2, {}) == next::end);
  CHECK(step.outcome().message() == "cause");
}

TEST_CASE("an error in the last answer ends the step at once") {
  distributed_step step{2};
  CHECK(step.answer(0, {}) == next::wait);
  CHECK(step.answer(1, broken("cause")) == next::end);
}

TEST_CASE("a step stops waiting for tasks that do not answer a cancellation") {
  distributed_step step{2};
  CHECK(step.fail(broken("time is over")) == next::cancel_others);
  CHECK(step.answer(0, {}) == next::wait);
  CHECK(step.end_now() == next::end);
  CHECK(step.answer(1, {}) == next::wait);
  CHECK(step.outcome().message() == "time is over");
}

TEST_CASE(
    "a step succeeds when the holders of its elements have confirmed that they are consumed") {
  distributed_step step{3};
  step.hold(0);
  CHECK(step.answer(0, {}) == next::wait);
  step.hold(2);
  CHECK(step.answer(2, {}) == next::wait);
  CHECK(step.take_holders().empty()); // the outcome is still open
  CHECK(step.answer(1, {}) == next::settle);
  CHECK(step.silent(0));
  CHECK_FALSE(step.silent(1));
  CHECK(step.silent(2));
  CHECK(step.answer(1, {}) == next::wait); // task 1 holds nothing
  CHECK(step.answer(2, {}) == next::wait);
  SECTION("all holders confirm") {
    CHECK(step.answer(0, {}) == next::end);
    CHECK(step.outcome().ok());
  }
  SECTION("the last holder has returned its element") {
    CHECK(step.answer(0, broken("gone")) == next::end);
    CHECK(step.outcome().message() == "gone");
  }
  SECTION("the deadline passes before the last answer") {
    CHECK(step.settles());
    CHECK(step.fail(broken("late")) == next::wait);
    CHECK(step.answer(0, {}) == next::end);
    CHECK(step.outcome().ok());
  }
  SECTION("the last holder does not answer") {
    CHECK(step.end_unconfirmed(broken("who knows")) == next::end);
    CHECK(step.outcome().message() == "who knows");
    CHECK(step.end_unconfirmed(broken("twice")) == next::wait);
    CHECK_FALSE(step.settles());
  }
  CHECK(step.take_holders().empty());
}

TEST_CASE("each holder of a failed step's elements is notified once") {

  distributed_step badly{3};
  badly.hold(1);
  CHECK(badly.answer(1, {}) == next::wait);
  CHECK(badly.answer(0, broken("cause")) == next::cancel_others);
  CHECK(badly.take_holders() == std::vector<size_t>{1});
  CHECK(badly.end_now() == next::end);
  badly.hold(2); // task 2 answered late
  CHECK(badly.take_holders() == std::vector<size_t>{2});
}

TEST_CASE("a distributed step ends once, with its first cause, in any order of events") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto tasks = 1 + dice() % 6;
    distributed_step step{tasks};
    std::string cause;
    int ends = 0, cancels = 0;
    for (int event = 0; event < 60 && ends == 0; ++event) {
      auto bad = dice() % 5 == 0;
      auto text = concat("event ", event);
      auto kind = dice() % 10;
      auto decision = next::wait;
      if (kind < 7) {
        auto task = dice() % tasks;
        if (bad && step.silent(task) && cause.empty())
          cause = text;
        decision = step.answer(task, bad ? broken(text.c_str()) : status{});
      } else if (kind < 8) {
        if (cause.empty())
          cause = text;
        decision = step.fail(broken(text.c_str()));
      } else if (!cause.empty()) {
        decision = step.end_now();
      }
      ends += decision == next::end;
      cancels += decision == next::cancel_others;
    }
    CHECK(ends <= 1);
    CHECK(cancels <= 1);
    CHECK(step.outcome().message() == cause);
    for (size_t task = 0; task < tasks && !step.over(); ++task)
      ends += step.answer(task, {}) == next::end;
    CHECK(step.over());
    CHECK(ends == 1);
  }
}

} // namespace troupe::test::distributed_step_test
