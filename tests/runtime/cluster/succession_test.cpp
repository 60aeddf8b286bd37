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

// The list of the first task: itself, and this many workers.
member_list list_of(int workers) {
  member_list list;
  list.begin_term(1000, first);
  list.put({first, 1000, "ps:1"});
  for (int i = 0; i < workers; ++i)
    list.put({worker(i), static_cast<uint64_t>(i + 1), concat("w:", i)});
  return list;
}

struct voter {
  voter(int number, time_point now)
      : self(worker(number)), incarnation(static_cast<uint64_t>(number + 1)),
        succession_state(self, incarnation, {}, now) {}
  task_name self;
  uint64_t incarnation;
  succession succession_state;
};

// Ticks until the voter requests a vote, at most for this time.
std::optional<vote_request> asks_within(voter& candidate, const member_list& list, bool hears,
                                        std::chrono::milliseconds bound, time_point& now) {
  for (auto end = now + bound; now < end;) {
    now += 500ms;
    if (auto request = candidate.succession_state.tick(list, hears, now))
      return request;
  }
  return {};
}

} // namespace

TEST_CASE(
    "members without the coordinator request votes after some time, in the order of the list") {
  auto list = list_of(3);
  time_point now{1h};
  voter zero{0, now}, two{2, now};
  CHECK(!asks_within(zero, list, true, 60s, now));
  auto since = now;
  auto request = asks_within(zero, list, false, 60s, now);
  REQUIRE(request);
  CHECK(now - since == 10s);
  CHECK(request->term == 1001);
  CHECK(request->candidate_epoch == list.epoch());
  now = since = time_point{1h};
  request = asks_within(two, list, false, 60s, now);
  REQUIRE(request);
  CHECK(now - since == 14'500ms); // since it first saw the list
}

TEST_CASE("more than half of all members must agree, including the coordinator") {
  auto list = list_of(4);
  time_point now{1h};
  voter zero{0, now};
  auto request = asks_within(zero, list, false, 60s, now);
  REQUIRE(request);
  CHECK(zero.succession_state.elected(list) == 0);
  zero.succession_state.count({1001, true}, worker(1), 2, list);
  zero.succession_state.count({1001, true}, worker(1), 2, list); // a repeated vote
  CHECK(zero.succession_state.elected(list) == 0);
  zero.succession_state.count({1001, true}, worker(2), 99, list); // from another incarnation
  zero.succession_state.count({1000, true}, worker(2), 3, list);  // for another term
  zero.succession_state.count({1001, true}, {"ps", 7}, 3, list);  // not a member
  CHECK(zero.succession_state.elected(list) == 0);
  zero.succession_state.count({1001, true}, worker(3), 4, list);
  CHECK(zero.succession_state.elected(list) == 1001);
}

TEST_CASE("in a cluster of two, a task succeeds the other only if that has said goodbye") {
  auto list = list_of(1);
  time_point now{1h};
  voter zero{0, now};
  REQUIRE(asks_within(zero, list, false, 60s, now));
  CHECK(zero.succession_state.elected(list) == 0);
  CHECK(zero.succession_state.vote_count(list)->needs == 2);
  zero.succession_state.left(list.epoch().term);
  CHECK(zero.succession_state.elected(list) == 1001);
}

TEST_CASE("a member does not vote while it hears the coordinator, nor twice, nor for a candidate "
          "with an older list") {
  auto list = list_of(4);
  time_point now{1h};
  voter member{1, now};
  auto has = list.epoch();
  auto ask = [&](uint64_t term, int from) {
    return member.succession_state.answer({term, has}, worker(from),
                                          static_cast<uint64_t>(from + 1), list, now);
  };
  CHECK(!asks_within(member, list, true, 20s, now));
  CHECK(!ask(1001, 0).granted);
  CHECK(!asks_within(member, list, false, 4s, now));
  CHECK(!ask(1001, 0).granted); // not heard for a moment only
  CHECK(!asks_within(member, list, false, 2s, now));
  has.change -= 1;
  CHECK(!ask(1001, 0).granted);
  has.change += 1;
  CHECK(!ask(1000, 0).granted); // the term of the list
  CHECK(!member.succession_state.answer({1001, has}, worker(0), 77, list, now)
             .granted); // from another incarnation
  CHECK(ask(1001, 0).granted);
  auto second = ask(1001, 2);
  CHECK(!second.granted);
  CHECK(second.term == 1001);
  CHECK(ask(1002, 2).granted);
  CHECK(!ask(1001, 0).granted);
}

TEST_CASE("a member that was paused neither requests a vote nor votes at once") {
  auto list = list_of(4);
  time_point now{1h};
  voter zero{0, now};
  CHECK(!asks_within(zero, list, false, 3s, now));
  now += 60s; // the member was paused
  CHECK(!zero.succession_state.answer({1001, list.epoch()}, worker(1), 2, list, now).granted);
  CHECK(!zero.succession_state.tick(list, false, now));
  CHECK(!zero.succession_state.answer({1001, list.epoch()}, worker(1), 2, list, now).granted);
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
  zero.succession_state.count({1500, false}, worker(1), 2, list);
  auto repeated_request = asks_within(zero, list, false, 60s, now);
  REQUIRE(repeated_request);
  CHECK(repeated_request->term == 1501);
  zero.succession_state.count({UINT64_MAX, false}, worker(1), 2, list); // an impossible term
  repeated_request = asks_within(zero, list, false, 60s, now);
  REQUIRE(repeated_request);
  CHECK(repeated_request->term == 1502);
}

TEST_CASE("a task that is not in the list, or has no list, does not request votes") {
  auto list = list_of(2);
  time_point now{1h};
  voter five{5, now};
  CHECK(!asks_within(five, list, false, 2min, now));
  voter zero{0, now};
  CHECK(!asks_within(zero, member_list{}, false, 2min, now));
  list.put({worker(0), 9, "w:9"}); // the successor of worker 0
  CHECK(!asks_within(zero, list, false, 2min, now));
}

namespace {

// Tasks whose messages are delayed, and that may crash, sleep or be separated. In each term at
// most one of them is elected.
class electorate {
public:
  struct member {
    voter voting;
    bool alive = true;
    bool hears = true; // whether it hears the coordinator
    time_point sleeps_until{};
    int side = 0;
  };

  explicit electorate(uint32_t seed)
      : dice_(seed), workers_(2 + roll(6)), list_(list_of(workers_)) {
    for (int i = 0; i < workers_; ++i)
      members_.push_back({voter{i, now_}});
  }

  // Lets members sleep, lose the coordinator, or be separated from others.
  void disturb() {
    for (int i = 0; i < 20; ++i) {
      auto& chosen = members_[static_cast<size_t>(roll(workers_))];
      switch (roll(5)) {
        case 0: chosen.hears = !chosen.hears; break;
        case 1: chosen.sleeps_until = now_ + std::chrono::seconds{roll(20)}; break;
        case 2: chosen.side = roll(2); break;
        default: break;
      }
      run(std::chrono::milliseconds{500 * roll(20)});
    }
  }

  // The coordinator is gone, and perhaps one more member. All others can reach each other.
  void lose_coordinator() {
    for (auto& participant : members_) {
      participant.hears = false;
      participant.side = 0;
      participant.sleeps_until = {};
    }
    if (workers_ > 3) // more than half remain, including the coordinator
      members_[static_cast<size_t>(roll(workers_))].alive = roll(2) == 0;
    elected_.clear();
  }

  void run(std::chrono::milliseconds time) {
    for (auto end = now_ + time; now_ < end; now_ += 500ms) {
      for (int i = 0; i < workers_; ++i)
        tick(i);
      auto due =
          std::partition(in_flight_.begin(), in_flight_.end(),
                         [&](const message_in_flight& message) { return message.when > now_; });
      std::vector<message_in_flight> arriving{due, in_flight_.end()};
      in_flight_.erase(due, in_flight_.end());
      for (const auto& arrived : arriving)
        deliver(arrived);
    }
  }

  bool has_elected() const { return !elected_.empty(); }
  int elections() const { return elections_; }
  int refusals() const { return refusals_; }

private:
  struct message_in_flight {
    time_point when;
    int from, to;
    std::variant<vote_request, vote> content;
  };

  int roll(int below) { return std::uniform_int_distribution<int>{0, below - 1}(dice_); }

  void send(int from, int to, std::variant<vote_request, vote> content) {
    in_flight_.push_back({now_ + std::chrono::milliseconds{roll(1500)}, from, to, content});
  }

  void tick(int number) {
    auto& participant = members_[static_cast<size_t>(number)];
    if (!participant.alive || participant.sleeps_until > now_)
      return;
    if (auto request = participant.voting.succession_state.tick(list_, participant.hears, now_))
      for (int to = 0; to < workers_; ++to)
        if (to != number)
          send(number, to, *request);
    check(participant);
  }

  void deliver(const message_in_flight& arrived) {
    auto& to = members_[static_cast<size_t>(arrived.to)];
    auto& from = members_[static_cast<size_t>(arrived.from)];
    if (!to.alive || to.sleeps_until > now_ || to.side != from.side)
      return;
    if (const auto* request = std::get_if<vote_request>(&arrived.content)) {
      auto answer = to.voting.succession_state.answer(*request, from.voting.self,
                                                      from.voting.incarnation, list_, now_);
      refusals_ += !answer.granted;
      send(arrived.to, arrived.from, answer);
    } else {
      to.voting.succession_state.count(std::get<vote>(arrived.content), from.voting.self,
                                       from.voting.incarnation, list_);
      check(to);
    }
  }

  void check(member& candidate) {
    if (auto term = candidate.voting.succession_state.elected(list_)) {
      auto [it, is_new] = elected_.try_emplace(term, candidate.voting.self);
      elections_ += is_new;
      CHECK(it->second == candidate.voting.self);
    }
  }

  std::mt19937 dice_;
  int workers_;
  member_list list_;
  time_point now_{1h};
  std::vector<member> members_;
  std::vector<message_in_flight> in_flight_;
  std::map<uint64_t, task_name> elected_;
  int elections_ = 0, refusals_ = 0;
};

} // namespace

// One member is elected soon after more than half of the members work.
TEST_CASE("random candidates elect at most one coordinator per term, and one eventually") {
  int elections = 0, refusals = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    electorate members{seed};
    members.disturb();
    members.lose_coordinator();
    members.run(180s);
    CHECK(members.has_elected());
    elections += members.elections();
    refusals += members.refusals();
  }
  CHECK(elections > 400);
  CHECK(refusals > 100);
}

} // namespace troupe::test::succession_test
