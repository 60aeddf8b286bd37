// Random histories of a cluster that tasks join: they fail, come back, and are cut off.
#include "troupe/runtime/cluster/cluster_coordinator.hpp"

#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/list_gossip.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <random>

namespace troupe::test::cluster_coordinator_random_test {

using namespace std::chrono_literals;
using time_point = cluster_coordinator::time_point;

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
          one.isolated = one.cut_off && roll(2) == 0;
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
      one.cut_off = one.isolated = false;
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
    time_point at = {};
    std::optional<number_claim> claim = {};
    std::optional<number_grant> grant = {};
    std::optional<member_changes> list = {};
    std::optional<probe_request> probe = {};
    std::optional<probe_answer> answer = {};
  };
  struct process {
    uint64_t id;
    std::string address;
    uint64_t incarnation;
    std::optional<task_name> number;
    bool cut_off = false;                  // from the coordinator
    bool isolated = false;                 // from all
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
      tell(from.in, {.list = greeting()});
      tell(from.out, {.list = list_gossip::greeting(from.list)});
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
    tell(from.out, {.claim = what});
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
    for (const auto& probe : first_->probes(now_))
      for (auto& one : processes_)
        if (one.number == probe.by && one.connected)
          tell(one.in, {.probe = probe.about});
    if (first_->settled(now_))
      for (auto& [to, what] : gossip_.spread(first_->list()))
        for (auto& one : processes_)
          if (one.id == to)
            tell(one.in, {.list = std::move(what)});
  }
  void hear_at_first(process& from, const said& what) {
    if (what.answer) {
      first_->hear(*what.answer, now_);
    } else if (what.claim) {
      auto grant = first_->claim(*what.claim, now_);
      tell(from.in, {.grant = grant});
    } else if (list_gossip::is_greeting(*what.list)) {
      auto own = what.list->epoch.term == first_->list().epoch().term;
      if (!own && what.list->epoch.term != 0)
        tell(from.in, {.list = list_gossip::greeting(first_->list(), true)});
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
    if (what.probe) {
      auto reached = std::ranges::any_of(processes_, [&](const auto& other) {
        return other.number == what.probe->task && other.incarnation == what.probe->incarnation &&
               !other.isolated;
      });
      tell(one.out, {.answer = probe_answer{what.probe->task, what.probe->incarnation, reached}});
    } else if (what.list) {
      auto heard = one.gossip.hear(0, *what.list, one.list);
      if (heard.answer)
        tell(one.out, {.list = heard.answer});
      for (auto& [to, changes] : one.gossip.spread(one.list))
        tell(one.out, {.list = changes});
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

} // namespace troupe::test::cluster_coordinator_random_test
