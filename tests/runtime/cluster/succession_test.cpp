#include "troupe/runtime/cluster/succession.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <variant>
#include <vector>

namespace troupe::test::succession_test {

using namespace std::chrono_literals;
using time_point = succession::time_point;

namespace {

const task_name first{"ps", 0};
task_name worker(int number) { return {"worker", number}; }

// The list that the first task has decided: itself, and so many workers.
member_list list_of(int workers) {
  member_list made;
  made.begin_term(1000, first);
  made.put({first, 1000, "ps:1"});
  for (int i = 0; i < workers; ++i)
    made.put({worker(i), static_cast<uint64_t>(i + 1), concat("w:", i)});
  return made;
}

struct voter {
  voter(int number, time_point now)
      : self(worker(number)), incarnation(static_cast<uint64_t>(number + 1)),
        it(self, incarnation, {}, now) {}
  task_name self;
  uint64_t incarnation;
  succession it;
};

// Ticks until it asks, at most so long.
std::optional<vote_request> asks_within(voter& who, const member_list& list, bool hears,
                                        std::chrono::milliseconds bound, time_point& now) {
  for (auto end = now + bound; now < end;) {
    now += 500ms;
    if (auto asked = who.it.tick(list, hears, now))
      return asked;
  }
  return {};
}

} // namespace

TEST_CASE(
    "a member asks for votes when it has not heard the coordinator for long, the first first") {
  auto list = list_of(3);
  time_point now{1h};
  voter zero{0, now}, two{2, now};
  CHECK(!asks_within(zero, list, true, 60s, now));
  auto since = now;
  auto asked = asks_within(zero, list, false, 60s, now);
  REQUIRE(asked);
  CHECK(now - since == 10s);
  CHECK(asked->term == 1001);
  CHECK(asked->has == list.epoch());
  now = since = time_point{1h};
  asked = asks_within(two, list, false, 60s, now);
  REQUIRE(asked);
  CHECK(now - since == 14'500ms); // from its first look at the list on
}

TEST_CASE("more than half of all members have to agree, the coordinator counted in") {
  auto list = list_of(4);
  time_point now{1h};
  voter zero{0, now};
  auto asked = asks_within(zero, list, false, 60s, now);
  REQUIRE(asked);
  CHECK(zero.it.elected(list) == 0);
  zero.it.count({1001, true}, worker(1), 2, list);
  zero.it.count({1001, true}, worker(1), 2, list); // again
  CHECK(zero.it.elected(list) == 0);
  zero.it.count({1001, true}, worker(2), 99, list); // of another life
  zero.it.count({1000, true}, worker(2), 3, list);  // of another term
  zero.it.count({1001, true}, {"ps", 7}, 3, list);  // no member
  CHECK(zero.it.elected(list) == 0);
  zero.it.count({1001, true}, worker(3), 4, list);
  CHECK(zero.it.elected(list) == 1001);
}

TEST_CASE("of two tasks, one does not follow the other, unless that has said goodbye") {
  auto list = list_of(1);
  time_point now{1h};
  voter zero{0, now};
  REQUIRE(asks_within(zero, list, false, 60s, now));
  CHECK(zero.it.elected(list) == 0);
  CHECK(zero.it.standing(list)->needs == 2);
  zero.it.left(list.epoch().term);
  CHECK(zero.it.elected(list) == 1001);
}

TEST_CASE("no vote while the coordinator is heard, nor twice, nor for one that knows less") {
  auto list = list_of(4);
  time_point now{1h};
  voter one{1, now};
  auto has = list.epoch();
  auto ask = [&](uint64_t term, int from) {
    return one.it.answer({term, has}, worker(from), static_cast<uint64_t>(from + 1), list, now);
  };
  CHECK(!asks_within(one, list, true, 20s, now));
  CHECK(!ask(1001, 0).granted);
  CHECK(!asks_within(one, list, false, 4s, now));
  CHECK(!ask(1001, 0).granted); // not heard for a moment only
  CHECK(!asks_within(one, list, false, 2s, now));
  has.change -= 1;
  CHECK(!ask(1001, 0).granted);
  has.change += 1;
  CHECK(!ask(1000, 0).granted);                                         // that of the list
  CHECK(!one.it.answer({1001, has}, worker(0), 77, list, now).granted); // of another life
  CHECK(ask(1001, 0).granted);
  auto second = ask(1001, 2);
  CHECK(!second.granted);
  CHECK(second.term == 1001);
  CHECK(ask(1002, 2).granted);
  CHECK(!ask(1001, 0).granted);
}

TEST_CASE("who was not there itself has heard nobody, and neither asks nor votes at once") {
  auto list = list_of(4);
  time_point now{1h};
  voter zero{0, now};
  CHECK(!asks_within(zero, list, false, 3s, now));
  now += 60s; // it was stopped
  CHECK(!zero.it.answer({1001, list.epoch()}, worker(1), 2, list, now).granted);
  CHECK(!zero.it.tick(list, false, now));
  CHECK(!zero.it.answer({1001, list.epoch()}, worker(1), 2, list, now).granted);
  auto since = now;
  REQUIRE(asks_within(zero, list, false, 60s, now));
  CHECK(now - since == 7'500ms);
}

TEST_CASE(
    "a member that is refused asks again, in a term that is greater than all it has heard of") {
  auto list = list_of(4);
  time_point now{1h};
  voter zero{0, now};
  REQUIRE(asks_within(zero, list, false, 60s, now));
  zero.it.count({1500, false}, worker(1), 2, list);
  auto again = asks_within(zero, list, false, 60s, now);
  REQUIRE(again);
  CHECK(again->term == 1501);
  zero.it.count({UINT64_MAX, false}, worker(1), 2, list); // there is no such term
  again = asks_within(zero, list, false, 60s, now);
  REQUIRE(again);
  CHECK(again->term == 1502);
}

TEST_CASE("who is no member of the list, or has none, asks for nothing") {
  auto list = list_of(2);
  time_point now{1h};
  voter five{5, now};
  CHECK(!asks_within(five, list, false, 2min, now));
  voter zero{0, now};
  CHECK(!asks_within(zero, member_list{}, false, 2min, now));
  list.put({worker(0), 9, "w:9"}); // its successor
  CHECK(!asks_within(zero, list, false, 2min, now));
}

// Random crashes, delays and partitions: in each term one member decides at most, and one does soon
// when all is well among more than half.
TEST_CASE("of members that stand at random, one is elected in a term, and one is in the end") {
  int elections = 0, refusals = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    auto roll = [&](int below) { return std::uniform_int_distribution<int>{0, below - 1}(dice); };
    auto workers = 2 + roll(6);
    auto list = list_of(workers);
    time_point now{1h};
    struct member {
      voter it;
      bool alive = true;
      bool hears = true; // the coordinator
      time_point sleeps_until{};
      int side = 0;
    };
    std::vector<member> all;
    for (int i = 0; i < workers; ++i)
      all.push_back({voter{i, now}});
    struct letter {
      time_point when;
      int from, to;
      std::variant<vote_request, vote> what;
    };
    std::vector<letter> post;
    std::map<uint64_t, task_name> elected;
    auto send = [&](int from, int to, std::variant<vote_request, vote> what) {
      post.push_back({now + std::chrono::milliseconds{roll(1500)}, from, to, what});
    };
    auto check = [&](member& one) {
      if (auto term = one.it.it.elected(list)) {
        auto [it, is_new] = elected.try_emplace(term, one.it.self);
        elections += is_new;
        CHECK(it->second == one.it.self);
      }
    };
    auto run = [&](std::chrono::milliseconds time) {
      for (auto end = now + time; now < end; now += 500ms) {
        for (int i = 0; i < workers; ++i) {
          auto& one = all[static_cast<size_t>(i)];
          if (!one.alive || one.sleeps_until > now)
            continue;
          if (auto asked = one.it.it.tick(list, one.hears, now))
            for (int to = 0; to < workers; ++to)
              if (to != i)
                send(i, to, *asked);
          check(one);
        }
        auto due = std::partition(post.begin(), post.end(),
                                  [&](const letter& one) { return one.when > now; });
        std::vector<letter> come{due, post.end()};
        post.erase(due, post.end());
        for (const auto& one : come) {
          auto& to = all[static_cast<size_t>(one.to)];
          auto& from = all[static_cast<size_t>(one.from)];
          if (!to.alive || to.sleeps_until > now || to.side != from.side)
            continue;
          if (const auto* asked = std::get_if<vote_request>(&one.what)) {
            auto made = to.it.it.answer(*asked, from.it.self, from.it.incarnation, list, now);
            refusals += !made.granted;
            send(one.to, one.from, made);
          } else {
            to.it.it.count(std::get<vote>(one.what), from.it.self, from.it.incarnation, list);
            check(to);
          }
        }
      }
    };
    for (int i = 0; i < 20; ++i) {
      auto& one = all[static_cast<size_t>(roll(workers))];
      switch (roll(5)) {
        case 0: one.hears = !one.hears; break;
        case 1: one.sleeps_until = now + std::chrono::seconds{roll(20)}; break;
        case 2: one.side = roll(2); break;
        default: break;
      }
      run(std::chrono::milliseconds{500 * roll(20)});
    }
    // The coordinator is gone, and perhaps one more.
    for (auto& one : all) {
      one.hears = false;
      one.side = 0;
      one.sleeps_until = {};
    }
    if (workers > 3) // more than half are left, the coordinator counted in
      all[static_cast<size_t>(roll(workers))].alive = roll(2) == 0;
    elected.clear();
    run(180s);
    CHECK(!elected.empty());
  }
  CHECK(elections > 400);
  CHECK(refusals > 100);
}

} // namespace troupe::test::succession_test
