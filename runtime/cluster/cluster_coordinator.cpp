#include "troupe/runtime/cluster/cluster_coordinator.hpp"

#include <algorithm>

namespace troupe {
namespace {

number_grant refused(status why) { return {.outcome = std::move(why)}; }

} // namespace

cluster_coordinator::cluster_coordinator(const task_name& self, uint64_t incarnation,
                                         const std::string& address,
                                         const coordinator_options& options, time_point now)
    : options_(options), self_(self), settled_(now + options.settle), ticked_(now),
      alone_since_(now) {
  list_.begin_term(incarnation, self);
  list_.put({self, incarnation, address});
  confirmed_.insert(self);
}

cluster_coordinator::cluster_coordinator(const task_name& self, member_list former, uint64_t term,
                                         bool left, const coordinator_options& options,
                                         time_point now)
    : options_(options), self_(self), settled_(now + options.settle), ticked_(now),
      alone_since_(now), list_(std::move(former)), heard_(list_.epoch()) {
  auto before = list_.coordinator();
  list_.begin_term(term, self);
  confirmed_.insert(self);
  if (left)
    set(before, presence::left);
  for (const auto& [task, one] : list_.members())
    expect(one, now);
}

// A process that comes back to an address has the place of the one that was there.
bool cluster_coordinator::may_follow(const cluster_member& holder, const number_claim& what) const {
  return is_free(holder) || holder.address == what.address;
}

bool cluster_coordinator::is_free(const cluster_member& which) const {
  return !which.holds_number() && which.address != reserved_;
}

number_grant cluster_coordinator::claim(const number_claim& what, time_point now) {
  return what.task < 0 ? claim_any(what, now) : claim_that(what, now);
}

number_grant cluster_coordinator::claim_any(const number_claim& what, time_point now) {
  if (!settled(now))
    return refused(failure(error_kind::unavailable, self_,
                           " has just started, and gives out numbers when members of a former "
                           "life have had time to call"));
  const cluster_member* same = nullptr;
  int free = 0, next = 0;
  auto has_hole = false;
  for (auto it = list_.members().lower_bound({what.job, 0});
       it != list_.members().end() && it->first.job == what.job; ++it) {
    const auto& one = it->second;
    // Its answer was lost; or a process has followed another at its address.
    if (one.address == what.address && it->first != self_)
      same = &one;
    if (!has_hole && (it->first.task > next || is_free(one))) {
      free = std::min(next, it->first.task);
      has_hole = true;
    }
    next = it->first.task + 1;
  }
  if (same)
    return grant(what, same->task, now);
  if (!has_hole)
    free = next;
  if (free >= max_tasks_of_job)
    return refused(failure(error_kind::resource_exhausted, "the job '", what.job, "' has ",
                           max_tasks_of_job, " tasks already"));
  return grant(what, {what.job, free}, now);
}

number_grant cluster_coordinator::claim_that(const number_claim& what, time_point now) {
  task_name task{what.job, what.task};
  if (what.task >= max_tasks_of_job)
    return refused(failure(error_kind::invalid_argument, task, " is beyond the ", max_tasks_of_job,
                           " tasks that a job may have"));
  const auto* holder = list_.find(task);
  if (!holder || holder->incarnation == what.incarnation)
    return grant(what, task, now);
  if (what.holds) {
    // It runs under a number: another that has it, or has had it since, is its successor. What was
    // at its own address before is not there any more.
    if (holder->incarnation > what.incarnation ||
        (holder->state == presence::here && confirmed_.contains(task) &&
         holder->address != what.address))
      return refused(failure(error_kind::failed_precondition, task, " with the incarnation ",
                             what.incarnation, " has been replaced by ", holder->incarnation,
                             " at ", holder->address, ": end the old process"));
    return grant(what, task, now);
  }
  if (may_follow(*holder, what))
    return grant(what, task, now);
  return refused(failure(holder->state == presence::here ? error_kind::already_exists
                                                         : error_kind::unavailable,
                         task, " is at ", holder->address, ", and ", to_string(holder->state)));
}

number_grant cluster_coordinator::grant(const number_claim& what, const task_name& task,
                                        time_point now) {
  cluster_member made{task, what.incarnation, what.address};
  bool is_known = false;
  if (const auto* before = list_.find(task)) {
    auto asks_again = claimed_.contains(task) && claimed_[task] == what.incarnation &&
                      before->address == what.address;
    if (asks_again)
      made.incarnation = before->incarnation;
    else if (before->incarnation > what.incarnation)
      made.incarnation = before->incarnation + 1;
    made.changed = before->changed;
    is_known = made.incarnation == before->incarnation;
    if (made != *before)
      list_.put(made);
  } else {
    list_.put(made);
  }
  claimed_[task] = what.incarnation;
  confirmed_.insert(task);
  if (!is_known)
    away_.erase(task); // nobody has looked for that one
  expect(made, now);
  return {.outcome = {}, .task = task, .incarnation = made.incarnation};
}

status cluster_coordinator::hear(const member_list& former, time_point now) {
  auto epoch = former.epoch();
  if (epoch.term == list_.epoch().term)
    return {};
  if (epoch.term > list_.epoch().term) {
    if (settled(now) || epoch.term >= last_term)
      return failure(error_kind::failed_precondition, self_,
                     " has been replaced: another process has decided who is in the cluster since "
                     "this one did");
    list_.begin_term(epoch.term + 1, self_); // the clock goes behind
  }
  if (epoch <= heard_)
    return {};
  heard_ = epoch;
  for (const auto& [task, one] : former.members()) {
    if (confirmed_.contains(task))
      continue;
    auto heard = one;
    if (heard.state == presence::here)
      heard.state = presence::unreachable;
    list_.put(heard);
    expect(heard, now);
  }
  return {};
}

void cluster_coordinator::connected(const task_name& task, uint64_t incarnation) {
  ++connections_[{task, incarnation}];
  const auto* one = list_.find(task);
  if (!one || one->incarnation != incarnation)
    return;
  away_.erase(task);
  if (one->state != presence::here)
    set(task, presence::here);
}

void cluster_coordinator::lost(const task_name& task, uint64_t incarnation, time_point now) {
  auto it = connections_.find({task, incarnation});
  if (it == connections_.end())
    return;
  if (--it->second == 0)
    connections_.erase(it);
  if (const auto* one = list_.find(task); one && one->incarnation == incarnation)
    expect(*one, now);
}

void cluster_coordinator::left(const task_name& task, uint64_t incarnation) {
  const auto* one = list_.find(task);
  if (!one || one->incarnation != incarnation || task == self_)
    return;
  away_.erase(task);
  set(task, presence::left);
}

void cluster_coordinator::tick(time_point now) {
  if (auto late = now - ticked_ - options_.longest_pause; late.count() > 0)
    for (auto& [task, one] : away_)
      for (auto* each : {&one.since, &one.unheard, &one.asked})
        *each += late;
  ticked_ = now;
  if (!connections_.empty())
    alone_since_ = now;
  std::erase_if(away_, [&](const auto& entry) {
    const auto& [task, one] = entry;
    auto alone = std::max(alone_since_, one.since) + options_.alone_after <= now;
    if (alone || (one.denied && one.unheard + options_.gone_after <= now)) {
      set(task, presence::gone);
      return true;
    }
    if (one.since + options_.unreachable_after <= now && list_.find(task)->state == presence::here)
      set(task, presence::unreachable);
    return false;
  });
}

std::vector<cluster_coordinator::probe> cluster_coordinator::probes(time_point now) {
  std::vector<probe> made;
  for (auto& [task, one] : away_) {
    if (one.since + options_.unreachable_after > now || one.asked + options_.probe_every > now)
      continue;
    one.asked = now;
    // In turn, from the one behind the last that was asked.
    auto begin = list_.members().upper_bound(last_asked_);
    size_t asked = 0;
    for (auto it = begin; asked < options_.probers;) {
      if (it == list_.members().end())
        it = list_.members().begin();
      else if (const auto& by = it->second; connections_.contains({by.task, by.incarnation})) {
        made.push_back({by.task, {task, list_.find(task)->incarnation}});
        last_asked_ = by.task;
        ++asked;
        ++it;
      } else {
        ++it;
      }
      if (it == begin)
        break;
    }
  }
  return made;
}

std::vector<task_name> cluster_coordinator::unreachable() const {
  std::vector<task_name> found;
  for (const auto& [task, one] : list_.members())
    if (one.state == presence::unreachable)
      found.push_back(task);
  return found;
}

void cluster_coordinator::hear(const probe_answer& what, time_point now) {
  const auto* one = list_.find(what.task);
  if (!one || one->incarnation != what.incarnation || what.task == self_)
    return;
  if (what.reached && one->state == presence::gone) {
    set(what.task, presence::unreachable);
    expect(*list_.find(what.task), now);
  }
  auto it = away_.find(what.task);
  if (it == away_.end())
    return;
  if (what.reached)
    it->second.unheard = now;
  it->second.denied = !what.reached;
}

void cluster_coordinator::set(const task_name& task, presence state) {
  auto one = *list_.find(task);
  if (one.state == state)
    return;
  one.state = state;
  list_.put(std::move(one));
}

void cluster_coordinator::expect(const cluster_member& which, time_point now) {
  if (which.task == self_ || !which.holds_number() ||
      connections_.contains({which.task, which.incarnation}))
    away_.erase(which.task);
  else
    away_.try_emplace(which.task, absence{now, now, now - options_.probe_every});
}

} // namespace troupe
