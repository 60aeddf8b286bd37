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

void complete(registration& what) {
  auto parts = what.begin();
  for (size_t i = 0; i < parts.size(); ++i)
    CHECK(what.registered(parts[i], what.attempt()) ==
          (i + 1 < parts.size() ? next::wait : next::complete));
}

} // namespace

TEST_CASE("all parts are registered once, for all who ask") {
  auto parts = chain();
  CHECK(parts.begin() == std::vector<size_t>{0, 1, 2, 3});
  CHECK(parts.begin().empty()); // it is under way
  for (size_t i = 0; i < 3; ++i)
    CHECK(parts.registered(i, parts.attempt()) == next::wait);
  CHECK(parts.registered(3, parts.attempt()) == next::complete);
  CHECK(parts.complete());
  CHECK(parts.begin().empty());
}

TEST_CASE("what is lost is registered again, with what exchanges tensors with it, and no more") {
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

TEST_CASE("an attempt ends with the first refusal, and answers to it are too late then") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  CHECK(parts.registered(0, first) == next::wait);
  CHECK(parts.refused(1, first, gone()) == next::failed);
  CHECK(parts.error().kind() == error_kind::unavailable);
  CHECK(parts.registered(2, first) == next::release);
  CHECK(parts.refused(3, first, gone()) == next::wait);
  CHECK(parts.begin() == std::vector<size_t>{1, 2, 3}); // 0 is as it was
  CHECK(parts.registered(2, first) == next::release);
}

TEST_CASE("a task that is lost while others are asked is asked in another attempt") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  parts.registered(0, first);
  parts.lose(0);
  parts.registered(1, first);
  parts.registered(2, first);
  CHECK(parts.registered(3, first) == next::again);
  CHECK(parts.begin() == std::vector<size_t>{0, 1}); // 1 was told of the old 0
  CHECK(parts.registered(0, parts.attempt()) == next::wait);
  CHECK(parts.registered(1, parts.attempt()) == next::complete);
}

TEST_CASE("a part whose partner is lost while it is asked is asked again") {
  auto parts = chain();
  complete(parts);
  parts.lose(3);
  parts.lose(0);
  parts.begin(); // 0, 1 and 3
  auto first = parts.attempt();
  CHECK(parts.registered(1, first) == next::wait);
  parts.lose(1); // 0 was told of its old incarnation
  CHECK(parts.registered(3, first) == next::wait);
  CHECK(parts.registered(0, first) == next::again);
  CHECK(parts.begin() == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("an attempt that is given up leaves nothing behind") {
  auto parts = chain();
  parts.begin();
  auto first = parts.attempt();
  parts.give_up();
  CHECK(!parts.under_way());
  CHECK(parts.registered(0, first) == next::release);
  complete(parts);
}

TEST_CASE("in any order of events a task keeps one registration, or none") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto parts = chain();
    struct question {
      size_t part;
      uint64_t attempt;
    };
    std::vector<question> open;
    std::vector<int> kept(parts.parts()); // registrations that count at each task
    auto ask = [&] {
      for (auto part : parts.begin()) {
        kept[part] = 0; // the old one is to be forgotten
        open.push_back({part, parts.attempt()});
      }
    };
    for (int event = 0; event < 200; ++event) {
      auto kind = dice() % 10;
      if (kind < 2) {
        ask();
      } else if (kind < 7 && !open.empty()) {
        auto which = dice() % open.size();
        auto asked = open[which];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        if (dice() % 6 == 0) {
          parts.refused(asked.part, asked.attempt, gone());
        } else if (auto what = parts.registered(asked.part, asked.attempt); what != next::release) {
          ++kept[asked.part];
          if (what == next::again)
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
    for (const auto& one : open)
      if (parts.registered(one.part, one.attempt) == next::again)
        break;
    parts.give_up();
    complete(parts);
  }
}

} // namespace troupe::test::registration_test
