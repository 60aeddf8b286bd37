#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/cluster_coordinator.hpp"
#include "troupe/runtime/cluster/list_gossip.hpp"

#include <deque>
#include <optional>
#include <random>

namespace troupe::test::member_list_test {

using namespace std::chrono_literals;
using time_point = cluster_coordinator::time_point;

namespace {

cluster_member member(int task, uint64_t incarnation, presence state = presence::here) {
  return {{"worker", task}, incarnation, concat("h:", incarnation), state};
}

number_claim any(uint64_t incarnation, std::string address = {}) {
  return {"worker", -1, incarnation, address.empty() ? concat("h:", incarnation) : address};
}

number_claim holds(int task, uint64_t incarnation) {
  return {"worker", task, incarnation, concat("h:", incarnation), true};
}

// The first task of the cluster, at a time of its own.
struct world {
  time_point now{1h};
  cluster_coordinator first{{"ps", 0}, 1000, "ps:1", {}, now};
  void pass(std::chrono::milliseconds time) {
    for (auto end = now + time; now < end;) {
      now = std::min(end, now + 100ms);
      first.tick(now);
    }
  }
  task_name granted(const number_claim& what) {
    auto made = first.claim(what, now);
    INFO(made.outcome);
    REQUIRE(made.outcome);
    return made.task;
  }
  error_kind refused(const number_claim& what) {
    auto made = first.claim(what, now);
    REQUIRE(!made.outcome);
    return made.outcome.kind();
  }
  presence state(const task_name& task) { return first.list().find(task)->state; }
};

const task_name zero{"worker", 0}, one{"worker", 1}, two{"worker", 2};

} // namespace

TEST_CASE("a copy of a list follows its changes, whichever of them it has missed") {
  member_list of;
  of.begin_term(7);
  of.put(member(0, 1));
  of.put(member(1, 2));
  member_list copy;
  CHECK(copy.take(of.changes_since(copy.epoch())) == member_list::taken::news);
  CHECK(copy.members() == of.members());
  auto before = of.changes_since(copy.epoch());
  CHECK(before.members.empty());
  CHECK(copy.take(before) == member_list::taken::old);
  auto seen = of.epoch();
  of.put(member(1, 2, presence::gone));
  auto lost = of.changes_since(seen);
  auto at_loss = of.epoch();
  of.put(member(2, 3));
  CHECK(copy.take(of.changes_since(at_loss)) == member_list::taken::gap);
  CHECK(copy.take(lost) == member_list::taken::news);
  CHECK(copy.take(of.changes_since(seen)) == member_list::taken::news); // more than is missing
  CHECK(copy.members() == of.members());
  CHECK(copy.epoch() == of.epoch());
}

TEST_CASE("the list of a later coordinator replaces all that an earlier one has decided") {
  member_list former, later, copy;
  former.begin_term(7);
  for (int i = 0; i < 5; ++i)
    former.put(member(i, 10));
  later.begin_term(8);
  later.put(member(0, 11));
  copy.take(former.changes_since({}));
  CHECK(later.changes_since(copy.epoch()).members.size() == 1);
  CHECK(copy.take(later.changes_since(copy.epoch())) == member_list::taken::news);
  CHECK(copy.members() == later.members());
  CHECK(copy.take(former.changes_since({})) == member_list::taken::old);
  // Nor is a change of one list made to another.
  former.put(member(6, 10));
  former.begin_term(9);
  CHECK(copy.take({{9, 1}, {9, 2}, {member(1, 12)}}) == member_list::taken::gap);
}

TEST_CASE("numbers are given from 0 up, once those who know better have had time to call") {
  world w;
  CHECK(w.refused(any(1)) == error_kind::unavailable);
  w.pass(2s);
  CHECK(w.granted(any(1)) == zero);
  CHECK(w.granted(any(2)) == one);
  CHECK(w.granted(any(1)) == zero); // the answer was lost
  CHECK(w.granted({"ps", -1, 5, "h:5"}) == task_name{"ps", 1});
  CHECK(w.granted({"worker", 7, 6, "h:6"}) == task_name{"worker", 7});
  CHECK(w.granted(any(3)) == two);
  CHECK(w.refused({"worker", 7, 8, "h:8"}) == error_kind::already_exists);
  CHECK(w.refused({"worker", 65'536, 8, "h:8"}) == error_kind::invalid_argument);
}

TEST_CASE("a number is free again when its task has left, or is gone, and not before") {
  world w;
  w.pass(2s);
  w.granted(any(1));
  w.granted(any(2));
  w.first.connected(zero, 1);
  w.first.connected(one, 2);
  w.first.connected(one, 2);
  w.first.lost(one, 2, w.now);
  w.pass(60s);
  CHECK(w.state(one) == presence::here); // there is another connection
  w.first.lost(one, 2, w.now);
  w.pass(500ms);
  CHECK(w.state(one) == presence::here);
  w.pass(600ms);
  CHECK(w.state(one) == presence::unreachable);
  w.pass(28s);
  CHECK(w.granted(any(3)) == two);
  w.first.connected(two, 3);
  w.pass(1s);
  CHECK(w.state(one) == presence::gone);
  CHECK(w.granted(any(4)) == one);
  w.first.left(zero, 1);
  CHECK(w.granted(any(5)) == zero);
}

TEST_CASE("who takes the place of another is later than it, whatever its clock says") {
  world w;
  w.pass(2s);
  w.granted(any(100));
  w.first.left(zero, 100);
  auto next = w.first.claim(any(50), w.now);
  CHECK(next.task == zero);
  CHECK(next.incarnation == 101);
  CHECK(w.first.claim(any(50), w.now).incarnation == 101); // asked again
  // Under this one it speaks for itself.
  CHECK(w.first.claim({"worker", 0, 101, "h:50", true}, w.now).incarnation == 101);
  CHECK(w.first.list().members().size() == 2);
}

TEST_CASE("who comes back to an address gets the number that was there") {
  world w;
  w.pass(2s);
  w.granted(any(1, "h:7"));
  w.granted(any(2, "h:8"));
  CHECK(w.granted(any(3, "h:8")) == one);
  CHECK(w.granted({"worker", 0, 4, "h:7"}) == zero);
  CHECK(w.refused(holds(0, 1)) == error_kind::failed_precondition); // which has been replaced
}

TEST_CASE("a coordinator that comes back learns from its members who they are") {
  world before;
  before.pass(2s);
  before.granted(any(1));
  before.granted(any(2));
  before.granted(any(3));
  before.first.left(one, 2);
  world w;
  w.first = cluster_coordinator{{"ps", 0}, 2000, "ps:1", {}, w.now};
  member_list copy;
  copy.take(before.first.list().changes_since({}));
  REQUIRE(w.first.hear(copy, w.now));
  w.first.connected(zero, 1);
  CHECK(w.granted(holds(0, 1)) == zero);
  w.pass(2s);
  CHECK(w.state(zero) == presence::here);
  CHECK(w.state(one) == presence::left);
  CHECK(w.state(two) == presence::unreachable); // it has not called yet
  CHECK(w.granted(any(9)) == one);
  CHECK(w.granted(any(10)) == task_name{"worker", 3});
  w.pass(29s);
  CHECK(w.state(two) == presence::gone);
  // A member that was cut off for long is the same as before, unless another has its number.
  CHECK(w.granted(holds(2, 3)) == two);
  w.first.connected(two, 3);
  CHECK(w.state(two) == presence::here);
  CHECK(w.refused(holds(1, 2)) == error_kind::failed_precondition);
}

TEST_CASE("a coordinator whose clock goes behind decides all the same; a replaced one ends") {
  member_list later;
  later.begin_term(5000);
  later.put(member(0, 1));
  world w;
  REQUIRE(w.first.hear(later, w.now));
  CHECK(w.first.list().epoch().term == 5001);
  w.pass(2s);
  CHECK(w.granted(any(9)) == one);
  later.begin_term(6000);
  CHECK(w.first.hear(later, w.now).kind() == error_kind::failed_precondition);
}

TEST_CASE("a coordinator that was not there itself does not count that time against its members") {
  world w;
  w.pass(2s);
  w.granted(any(1));
  w.first.connected(zero, 1);
  w.first.lost(zero, 1, w.now);
  w.pass(900ms);
  w.now += 60s; // frozen
  w.first.tick(w.now);
  CHECK(w.state(zero) != presence::gone);
  w.pass(20s);
  CHECK(w.state(zero) == presence::unreachable);
  w.pass(11s);
  CHECK(w.state(zero) == presence::gone);
}

namespace {

// A coordinator and tasks that join, fail, and call again within half a second; what they say
// arrives within another half. Partitions last as long as they like.
class random_cluster {
public:
  random_cluster(uint32_t seed, bool partitions) : dice_(seed), partitions_(partitions) { start(); }

  void step() {
    switch (roll(12)) {
      case 0: join(); break;
      case 1:
        if (!processes_.empty() && roll(3) == 0)
          die(roll(processes_.size()), roll(2) == 0);
        break;
      case 2:
        if (first_ && roll(6) == 0)
          crash();
        break;
      case 3:
        if (!first_)
          start();
        break;
      case 4:
        if (!processes_.empty())
          hang_up(processes_[roll(processes_.size())]);
        break;
      case 5:
        if (partitions_ && !processes_.empty() && roll(10) == 0) {
          auto& one = processes_[roll(processes_.size())];
          one.cut_off = !one.cut_off;
          hang_up(one);
        }
        break;
      default: pass(std::chrono::milliseconds{roll(partitions_ ? 1500 : 300)}); break;
    }
  }

  // All are well for a while.
  void settle() {
    if (!first_)
      start();
    for (auto& one : processes_)
      one.cut_off = false;
    for (int i = 0; i < 400; ++i)
      pass(100ms);
  }

  void check_numbers() {
    std::map<task_name, uint64_t> seen;
    for (const auto& one : processes_)
      if (one.number) {
        INFO(*one.number << " is " << one.incarnation << " and " << seen[*one.number]);
        CHECK(seen[*one.number] == 0);
        seen[*one.number] = one.incarnation;
      }
  }

  void check_lists() {
    size_t here = 1;
    for (const auto& one : processes_) {
      REQUIRE(one.number);
      auto* in_list = first_->list().find(*one.number);
      REQUIRE(in_list);
      CHECK(in_list->incarnation == one.incarnation);
      CHECK(in_list->state == presence::here);
      CHECK(one.list.epoch() == first_->list().epoch());
      CHECK(one.list.members() == first_->list().members());
      ++here;
    }
    for (const auto& [task, member] : first_->list().members())
      here -= member.state == presence::here;
    CHECK(here == 0);
  }

  int joined = 0, taken_over = 0, replaced = 0;

private:
  struct said {
    time_point at;
    std::optional<number_claim> claim;
    std::optional<number_grant> grant;
    std::optional<member_changes> list;
  };
  struct process {
    uint64_t id;
    std::string address;
    uint64_t incarnation;
    std::optional<task_name> number;
    bool cut_off = false;
    std::optional<task_name> connected_as; // meanwhile
    bool connected = false;
    time_point since;
    member_list list;
    list_gossip gossip; // with the coordinator, which is its peer 0
    std::deque<said> in, out;
  };

  size_t roll(size_t below) { return std::uniform_int_distribution<size_t>{0, below - 1}(dice_); }

  void start() {
    first_.emplace(task_name{"ps", 0}, ++clock_, "ps:1", coordinator_options{}, now_);
    gossip_ = {};
  }
  void crash() {
    first_.reset();
    for (auto& one : processes_)
      hang_up(one);
  }
  void join() {
    if (processes_.size() >= 8)
      return;
    process made{};
    made.id = ++ids_;
    // Clocks differ; and some come back to where another was.
    ++clock_;
    made.incarnation = clock_ - roll(20);
    while (std::ranges::find(used_, made.incarnation) != used_.end())
      ++made.incarnation;
    used_.push_back(made.incarnation);
    made.address = concat("h:", roll(4) == 0 ? roll(4) : 100 + made.id);
    for (const auto& one : processes_)
      if (one.address == made.address)
        return;
    made.since = now_;
    processes_.push_back(std::move(made));
    ++joined;
  }
  void die(size_t which, bool orderly) {
    auto& one = processes_[which];
    if (orderly && first_ && one.connected && one.connected_as)
      first_->left(*one.connected_as, one.incarnation);
    hang_up(one);
    processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(which));
  }

  void call(process& from) {
    from.connected = true;
    from.connected_as = from.number;
    from.gossip.connected(0);
    gossip_.connected(from.id);
    if (from.number) {
      first_->connected(*from.number, from.incarnation);
      tell(from.in, {.at = {}, .claim = {}, .grant = {}, .list = greeting()});
      tell(from.out,
           {.at = {}, .claim = {}, .grant = {}, .list = list_gossip::greeting(from.list)});
    }
    claim(from);
  }
  void hang_up(process& one) {
    if (first_ && one.connected && one.connected_as)
      first_->lost(*one.connected_as, one.incarnation, now_);
    if (one.connected)
      one.since = now_;
    one.connected = false;
    one.gossip.lost(0);
    gossip_.lost(one.id);
    one.in.clear();
    one.out.clear();
  }
  member_changes greeting() {
    return list_gossip::greeting(first_->list(), !first_->settled(now_));
  }
  void claim(process& from) {
    number_claim what{"worker", -1, from.incarnation, from.address};
    if (from.number) {
      what.task = from.number->task;
      what.holds = true;
    }
    tell(from.out, {.at = {}, .claim = what, .grant = {}, .list = {}});
  }
  void tell(std::deque<said>& to, said what) {
    what.at = now_ + std::chrono::milliseconds{roll(500)};
    if (!to.empty())
      what.at = std::max(what.at, to.back().at);
    to.push_back(std::move(what));
  }

  void pass(std::chrono::milliseconds time) {
    for (auto end = now_ + time;;) {
      now_ = std::min(end, now_ + 10ms);
      if (first_) {
        first_->tick(now_);
        serve();
      }
      if (now_ == end)
        return;
    }
  }
  void serve() {
    for (size_t i = 0; i < processes_.size(); ++i) {
      auto& one = processes_[i];
      if (!one.connected && !one.cut_off && (now_ - one.since > 480ms || roll(20) == 0))
        call(one);
      while (one.connected && !one.out.empty() && one.out.front().at <= now_) {
        auto what = std::move(one.out.front());
        one.out.pop_front();
        hear_at_first(one, what);
      }
      auto alive = true;
      while (alive && one.connected && !one.in.empty() && one.in.front().at <= now_) {
        auto what = std::move(one.in.front());
        one.in.pop_front();
        alive = hear(one, what);
      }
      if (!alive) {
        hang_up(one);
        processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(i--));
      }
    }
    if (first_->settled(now_))
      for (auto& [to, what] : gossip_.spread(first_->list()))
        for (auto& one : processes_)
          if (one.id == to)
            tell(one.in, {.at = {}, .claim = {}, .grant = {}, .list = std::move(what)});
  }
  void hear_at_first(process& from, const said& what) {
    if (what.claim) {
      auto grant = first_->claim(*what.claim, now_);
      tell(from.in, {.at = {}, .claim = {}, .grant = grant, .list = {}});
    } else if (list_gossip::is_greeting(*what.list)) {
      auto own = what.list->epoch.term == first_->list().epoch().term;
      if (!own && what.list->epoch.term != 0)
        tell(from.in, {.at = {},
                       .claim = {},
                       .grant = {},
                       .list = list_gossip::greeting(first_->list(), true)});
      else
        gossip_.note(from.id, what.list->epoch);
    } else {
      member_list heard;
      heard.take(*what.list);
      CHECK(first_->hear(heard, now_));
      gossip_.note(from.id, what.list->epoch);
    }
  }
  bool hear(process& one, said& what) {
    if (what.list) {
      auto heard = one.gossip.hear(0, *what.list, one.list);
      if (heard.answer)
        tell(one.out, {.at = {}, .claim = {}, .grant = {}, .list = heard.answer});
      for (auto& [to, changes] : one.gossip.spread(one.list))
        tell(one.out, {.at = {}, .claim = {}, .grant = {}, .list = changes});
      auto* self = one.number ? one.list.find(*one.number) : nullptr;
      if (self && self->incarnation > one.incarnation && self->holds_number()) {
        ++replaced;
        return false;
      }
    } else if (what.grant->outcome) {
      if (!one.number) {
        taken_over += what.grant->incarnation != one.incarnation;
        one.number = what.grant->task;
        one.incarnation = what.grant->incarnation;
        hang_up(one); // and calls as that task
      } else if (what.grant->incarnation != one.incarnation) {
        ++replaced;
        return false;
      }
    } else if (what.grant->outcome.kind() == error_kind::unavailable) {
      claim(one);
    } else {
      CHECK(what.grant->outcome.kind() == error_kind::failed_precondition);
      ++replaced;
      return false;
    }
    return true;
  }

  std::mt19937 dice_;
  bool partitions_;
  time_point now_{1h};
  uint64_t clock_ = 1000, ids_ = 0;
  std::vector<uint64_t> used_;
  std::optional<cluster_coordinator> first_;
  list_gossip gossip_; // of the coordinator
  std::vector<process> processes_;
};

} // namespace

TEST_CASE("no number is ever held twice while members can call again in time, and lists agree") {
  int joined = 0, taken_over = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    random_cluster cluster{seed, false};
    for (int i = 0; i < 300; ++i) {
      cluster.step();
      cluster.check_numbers();
    }
    cluster.settle();
    cluster.check_numbers();
    cluster.check_lists();
    CHECK(cluster.replaced == 0);
    joined += cluster.joined;
    taken_over += cluster.taken_over;
  }
  CHECK(joined > 1000);
  CHECK(taken_over > 50);
}

TEST_CASE("after partitions of any length, each number has one holder, and the others have ended") {
  int replaced = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    random_cluster cluster{seed, true};
    for (int i = 0; i < 600; ++i)
      cluster.step();
    cluster.settle();
    cluster.check_numbers();
    cluster.check_lists();
    replaced += cluster.replaced;
  }
  CHECK(replaced > 10);
}

} // namespace troupe::test::member_list_test
