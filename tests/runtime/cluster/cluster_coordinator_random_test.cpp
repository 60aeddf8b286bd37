// Random histories of a cluster that tasks join: tasks fail, return, and are cut off.
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

// A coordinator and tasks that join, fail, and call again within half a second; their messages
// arrive within another half. Partitions last any time.
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
          disconnect(processes_[roll(processes_.size())]);
        break;
      case 5:
        if (partitions_ && !processes_.empty() && roll(10) == 0) {
          auto& chosen_process = processes_[roll(processes_.size())];
          chosen_process.cut_off = !chosen_process.cut_off;
          chosen_process.isolated = chosen_process.cut_off && roll(2) == 0;
          disconnect(chosen_process);
        }
        break;
      default: pass(std::chrono::milliseconds{roll(partitions_ ? 1500 : 300)}); break;
    }
  }

  // A phase without faults.
  void settle() {
    if (!first_)
      start();
    for (auto& member_process : processes_)
      member_process.cut_off = member_process.isolated = false;
    for (int i = 0; i < 400; ++i)
      pass(100ms);
  }

  void check_numbers() {
    std::map<task_name, uint64_t> incarnations_by_number;
    for (const auto& member : processes_)
      if (member.number) {
        INFO(*member.number << " is " << member.incarnation << " and "
                            << incarnations_by_number[*member.number]);
        CHECK(incarnations_by_number[*member.number] == 0);
        incarnations_by_number[*member.number] = member.incarnation;
      }
  }

  void check_lists() {
    size_t present_count = 1;
    for (const auto& member : processes_) {
      REQUIRE(member.number);
      auto* in_list = first_->list().find(*member.number);
      REQUIRE(in_list);
      CHECK(in_list->incarnation == member.incarnation);
      CHECK(in_list->state == presence::here);
      CHECK(member.list.epoch() == first_->list().epoch());
      CHECK(member.list.members() == first_->list().members());
      ++present_count;
    }
    for (const auto& [task, member] : first_->list().members())
      present_count -= member.state == presence::here;
    CHECK(present_count == 0);
  }

  int joined = 0, taken_over = 0, replaced = 0;

private:
  struct sent_message {
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
    bool cut_off = false;                  // cut off from the coordinator
    bool isolated = false;                 // cut off from all processes
    std::optional<task_name> connected_as; // the number under which it is connected
    bool connected = false;
    time_point since;
    member_list list;
    list_gossip gossip; // its gossip with the coordinator, its peer 0
    std::deque<sent_message> in, out;
  };

  size_t roll(size_t below) { return std::uniform_int_distribution<size_t>{0, below - 1}(dice_); }

  void start() {
    first_.emplace(task_name{"ps", 0}, ++clock_, "ps:1", coordinator_options{}, now_);
    gossip_ = {};
  }
  void crash() {
    first_.reset();
    for (auto& member : processes_)
      disconnect(member);
  }
  void join() {
    if (processes_.size() >= 8)
      return;
    process new_process{};
    new_process.id = ++ids_;
    // Clocks differ; and some processes return at an address of another one.
    ++clock_;
    new_process.incarnation = clock_ - roll(20);
    while (std::ranges::find(used_, new_process.incarnation) != used_.end())
      ++new_process.incarnation;
    used_.push_back(new_process.incarnation);
    new_process.address = concat("h:", roll(4) == 0 ? roll(4) : 100 + new_process.id);
    for (const auto& member : processes_)
      if (member.address == new_process.address)
        return;
    new_process.since = now_;
    processes_.push_back(std::move(new_process));
    ++joined;
  }
  void die(size_t process_index, bool orderly) {
    auto& ending = processes_[process_index];
    if (orderly && first_ && ending.connected && ending.connected_as)
      first_->left(*ending.connected_as, ending.incarnation);
    disconnect(ending);
    processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(process_index));
  }

  void call(process& from) {
    from.connected = true;
    from.connected_as = from.number;
    from.gossip.connected(0);
    gossip_.connected(from.id);
    if (from.number) {
      first_->connected(*from.number, from.incarnation);
      send_later(from.in, {.list = greeting()});
      send_later(from.out, {.list = list_gossip::greeting(from.list)});
    }
    claim(from);
  }
  void disconnect(process& caller) {
    if (first_ && caller.connected && caller.connected_as)
      first_->lost(*caller.connected_as, caller.incarnation, now_);
    if (caller.connected)
      caller.since = now_;
    caller.connected = false;
    caller.gossip.lost(0);
    gossip_.lost(caller.id);
    caller.in.clear();
    caller.out.clear();
  }
  member_changes greeting() {
    return list_gossip::greeting(first_->list(), !first_->settled(now_));
  }
  void claim(process& from) {
    number_claim request{"worker", -1, from.incarnation, from.address};
    if (from.number) {
      request.task = from.number->task;
      request.is_confirmed = true;
    }
    send_later(from.out, {.claim = request});
  }
  void send_later(std::deque<sent_message>& to, sent_message message) {
    message.at = now_ + std::chrono::milliseconds{roll(500)};
    if (!to.empty())
      message.at = std::max(message.at, to.back().at);
    to.push_back(std::move(message));
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
      auto& member = processes_[i];
      if (!member.connected && !member.cut_off && (now_ - member.since > 480ms || roll(20) == 0))
        call(member);
      while (member.connected && !member.out.empty() && member.out.front().at <= now_) {
        auto message = std::move(member.out.front());
        member.out.pop_front();
        deliver_to_coordinator(member, message);
      }
      auto alive = true;
      while (alive && member.connected && !member.in.empty() && member.in.front().at <= now_) {
        auto message = std::move(member.in.front());
        member.in.pop_front();
        alive = deliver_to_member(member, message);
      }
      if (!alive) {
        disconnect(member);
        processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(i--));
      }
    }
    for (const auto& probe : first_->probes(now_))
      for (auto& member : processes_)
        if (member.number == probe.prober && member.connected)
          send_later(member.in, {.probe = probe.subject});
    if (first_->settled(now_))
      for (auto& [to, gossip_part] : gossip_.take_messages(first_->list()))
        for (auto& member : processes_)
          if (member.id == to)
            send_later(member.in, {.list = std::move(gossip_part)});
  }
  void deliver_to_coordinator(process& from, const sent_message& message) {
    if (message.answer) {
      first_->record(*message.answer, now_);
    } else if (message.claim) {
      auto grant = first_->claim(*message.claim, now_);
      send_later(from.in, {.grant = grant});
    } else if (list_gossip::is_greeting(*message.list)) {
      auto is_own_term = message.list->epoch.term == first_->list().epoch().term;
      if (!is_own_term && message.list->epoch.term != 0)
        send_later(from.in, {.list = list_gossip::greeting(first_->list(), true)});
      else
        gossip_.set_epoch(from.id, message.list->epoch);
    } else {
      member_list heard;
      heard.merge(*message.list);
      CHECK(first_->merge(heard, now_));
      gossip_.set_epoch(from.id, message.list->epoch);
    }
  }
  bool deliver_to_member(process& listener, sent_message& message) {
    if (message.probe) {
      auto reached = std::ranges::any_of(processes_, [&](const auto& other_process) {
        return other_process.number == message.probe->task &&
               other_process.incarnation == message.probe->incarnation && !other_process.isolated;
      });
      send_later(listener.out, {.answer = probe_answer{message.probe->task,
                                                       message.probe->incarnation, reached}});
    } else if (message.list) {
      auto heard = listener.gossip.merge(0, *message.list, listener.list);
      if (heard.answer)
        send_later(listener.out, {.list = heard.answer});
      for (auto& [to, changes] : listener.gossip.take_messages(listener.list))
        send_later(listener.out, {.list = changes});
      auto* self = listener.number ? listener.list.find(*listener.number) : nullptr;
      if (self && self->incarnation > listener.incarnation && self->holds_number()) {
        ++replaced;
        return false;
      }
    } else if (message.grant->outcome) {
      if (!listener.number) {
        taken_over += message.grant->incarnation != listener.incarnation;
        listener.number = message.grant->task;
        listener.incarnation = message.grant->incarnation;
        disconnect(listener); // then it calls as that task
      } else if (message.grant->incarnation != listener.incarnation) {
        ++replaced;
        return false;
      }
    } else if (message.grant->outcome.kind() == error_kind::unavailable) {
      claim(listener);
    } else {
      CHECK(message.grant->outcome.kind() == error_kind::failed_precondition);
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
  list_gossip gossip_; // the coordinator's gossip
  std::vector<process> processes_;
};

} // namespace

TEST_CASE("no number is held twice while members can call again in time, and lists agree") {
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
