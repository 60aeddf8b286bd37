#include "troupe/runtime/cluster/registration.hpp"

#include "tests/support/catch.hpp"

#include <random>
#include <set>

namespace troupe::test::registration_test {

using next = registration::next;

namespace {

status gone() { return failure(error_kind::unavailable, "gone"); }

// A chain: 0 - 1 - 2, and 3 alone.
registration chain() { return registration{{{1}, {0, 2}, {1}, {}}}; }

void complete(registration& tested) {
  auto parts = tested.begin();
  for (size_t i = 0; i < parts.size(); ++i)
    CHECK(tested.registered(parts[i], tested.attempt()) ==
          (i + 1 < parts.size() ? next::wait : next::complete));
}

} // namespace

TEST_CASE("all parts are registered once, for all callers") {
  auto parts = chain();
  CHECK(parts.begin() == std::vector<size_t>{0, 1, 2, 3});
  CHECK(parts.begin().empty()); // the registration is in progress
  for (size_t i = 0; i < 3; ++i)
    CHECK(parts.registered(i, parts.attempt()) == next::wait);
  CHECK(parts.registered(3, parts.attempt()) == next::complete);
  CHECK(parts.complete());
  CHECK(parts.begin().empty());
}

TEST_CASE("a lost part is registered again, with the parts that exchange tensors with it, and no "
          "others") {
  auto parts = chain();
  complete(parts);
  parts.lose(0);
  CHECK(!parts.complete());
  CHECK(parts.begin() == std::vector<size_t>{0, 1});
  CHECK(parts.registered(0, parts.attempt()) == next::wait);
  CHECK(parts.registered(1, parts.attempt()) == next::complete);
  parts.lose(3);
  CHECK(parts.begin() == std::vector<size_t>{3});
}

TEST_CASE("an attempt ends with the first refusal, and later answers to it are ignored") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  CHECK(parts.registered(0, first) == next::wait);
  CHECK(parts.refused(1, first, gone()) == next::failed);
  CHECK(parts.error().kind() == error_kind::unavailable);
  CHECK(parts.registered(2, first) == next::release);
  CHECK(parts.refused(3, first, gone()) == next::wait);
  CHECK(parts.begin() == std::vector<size_t>{1, 2, 3}); // part 0 stays registered
  CHECK(parts.registered(2, first) == next::release);
}

TEST_CASE("a task that is lost during an attempt is asked in the next attempt") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  parts.registered(0, first);
  parts.lose(0);
  parts.registered(1, first);
  parts.registered(2, first);
  CHECK(parts.registered(3, first) == next::again);
  CHECK(parts.begin() == std::vector<size_t>{0, 1}); // part 1 knows the old incarnation of part 0
  CHECK(parts.registered(0, parts.attempt()) == next::wait);
  CHECK(parts.registered(1, parts.attempt()) == next::complete);
}

TEST_CASE("a part whose partner is lost during its registration is asked again") {
  auto parts = chain();
  complete(parts);
  parts.lose(3);
  parts.lose(0);
  parts.begin(); // asks parts 0, 1 and 3
  auto first = parts.attempt();
  CHECK(parts.registered(1, first) == next::wait);
  parts.lose(1); // part 0 knows its old incarnation
  CHECK(parts.registered(3, first) == next::wait);
  CHECK(parts.registered(0, first) == next::again);
  CHECK(parts.begin() == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("an abandoned attempt leaves no registrations") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  parts.give_up();
  CHECK(!parts.under_way());
  CHECK(parts.registered(0, first) == next::release);
  complete(parts);
}

TEST_CASE("a task keeps at most one registration, in any order of events") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto parts = chain();
    struct question {
      size_t part;
      uint64_t attempt;
    };
    std::vector<question> open;
    std::vector<int> kept(parts.parts()); // valid registrations per task
    auto ask = [&] {
      for (auto part : parts.begin()) {
        kept[part] = 0; // the old registration is void
        open.push_back({part, parts.attempt()});
      }
    };
    for (int event = 0; event < 200; ++event) {
      auto kind = dice() % 10;
      if (kind < 2) {
        ask();
      } else if (kind < 7 && !open.empty()) {
        auto chosen = dice() % open.size();
        auto request = open[chosen];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
        if (dice() % 6 == 0) {
          parts.refused(request.part, request.attempt, gone());
        } else if (auto decision = parts.registered(request.part, request.attempt);
                   decision != next::release) {
          ++kept[request.part];
          if (decision == next::again)
            ask();
        }
      } else if (kind < 8) {
        parts.lose(dice() % parts.parts());
      } else if (kind < 9 && dice() % 8 == 0) {
        parts.give_up();
      }
      for (size_t i = 0; i < parts.parts(); ++i) {
        CHECK(kept[i] <= 1);
        CHECK((!parts.ready(i) || kept[i] == 1));
      }
    }
    for (const auto& open_request : open)
      if (parts.registered(open_request.part, open_request.attempt) == next::again)
        break;
    parts.give_up();
    complete(parts);
  }
}

} // namespace troupe::test::registration_test
