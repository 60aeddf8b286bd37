#include "troupe/runtime/cluster/cluster_coordinator.hpp"

#include <algorithm>

namespace troupe {
namespace {

number_grant refused(status reason) { return {.outcome = std::move(reason)}; }

} // namespace

cluster_coordinator::cluster_coordinator(const task_name& self, uint64_t incarnation,
                                         const std::string& address,
                                         const coordinator_options& options, time_point now)
    : options_(options), self_(self), settled_at_(now + options.settle), last_tick_(now),
      alone_since_(now) {
  list_.begin_term(incarnation, self);
  list_.put({self, incarnation, address});
  confirmed_.insert(self);
}

cluster_coordinator::cluster_coordinator(const task_name& self, member_list former, uint64_t term,
                                         bool left, const coordinator_options& options,
                                         time_point now)
    : options_(options), self_(self), settled_at_(now + options.settle), last_tick_(now),
      alone_since_(now), list_(std::move(former)), merged_epoch_(list_.epoch()) {
  auto former_coordinator = list_.coordinator();
  list_.begin_term(term, self);
  confirmed_.insert(self);
  if (left)
    set(former_coordinator, presence::left);
  for (const auto& [task, member] : list_.members())
    track_absence(member, now);
}

// A process that restarts at the same address may take the number of the one before.
bool cluster_coordinator::may_follow(const cluster_member& holder,
                                     const number_claim& request) const {
  return is_free(holder) || holder.address == request.address;
}

bool cluster_coordinator::is_free(const cluster_member& member) const {
  return !member.holds_number() && member.address != reserved_;
}

number_grant cluster_coordinator::claim(const number_claim& request, time_point now) {
  return request.task < 0 ? claim_any(request, now) : claim_number(request, now);
}

number_grant cluster_coordinator::claim_any(const number_claim& request, time_point now) {
  if (!settled(now))
    return refused(failure(error_kind::unavailable, self_,
                           " has just started, and assigns task numbers once the members of the "
                           "former cluster have had time to call"));
  const cluster_member* same_address = nullptr;
  int free = 0, next = 0;
  auto has_hole = false;
  for (auto entry = list_.members().lower_bound({request.job, 0});
       entry != list_.members().end() && entry->first.job == request.job; ++entry) {
    const auto& member = entry->second;
    // The answer to an earlier claim was lost, or a process follows another at its address.
    if (member.address == request.address && entry->first != self_)
      same_address = &member;
    if (!has_hole && (entry->first.task > next || is_free(member))) {
      free = std::min(next, entry->first.task);
      has_hole = true;
    }
    next = entry->first.task + 1;
  }
  if (same_address)
    return grant(request, same_address->task, now);
  if (!has_hole)
    free = next;
  if (free >= max_tasks_of_job)
    return refused(failure(error_kind::resource_exhausted, "the job '", request.job, "' has ",
                           max_tasks_of_job, " tasks already"));
  return grant(request, {request.job, free}, now);
}

number_grant cluster_coordinator::claim_number(const number_claim& request, time_point now) {
  task_name task{request.job, request.task};
  if (request.task >= max_tasks_of_job)
    return refused(failure(error_kind::invalid_argument, task, " is beyond the ", max_tasks_of_job,
                           " tasks that a job may have"));
  const auto* holder = list_.find(task);
  if (!holder || holder->incarnation == request.incarnation)
    return grant(request, task, now);
  if (request.is_confirmed) {
    // The claimant runs under this number. Another incarnation that has the number, or has had it
    // since, is its successor. A member at the claimant's own address has ended.
    if (holder->incarnation > request.incarnation ||
        (holder->state == presence::here && confirmed_.contains(task) &&
         holder->address != request.address))
      return refused(failure(error_kind::failed_precondition, task, " with the incarnation ",
                             request.incarnation, " has been replaced by ", holder->incarnation,
                             " at ", holder->address, ": end the old process"));
    return grant(request, task, now);
  }
  if (may_follow(*holder, request))
    return grant(request, task, now);
  return refused(failure(holder->state == presence::here ? error_kind::already_exists
                                                         : error_kind::unavailable,
                         task, " is at ", holder->address, ", and ", to_string(holder->state)));
}

number_grant cluster_coordinator::grant(const number_claim& request, const task_name& task,
                                        time_point now) {
  cluster_member granted{task, request.incarnation, request.address};
  bool is_known = false;
  if (const auto* known = list_.find(task)) {
    auto repeats_claim = claimed_.contains(task) && claimed_[task] == request.incarnation &&
                         known->address == request.address;
    if (repeats_claim)
      granted.incarnation = known->incarnation;
    else if (known->incarnation > request.incarnation)
      granted.incarnation = known->incarnation + 1;
    granted.changed = known->changed;
    is_known = granted.incarnation == known->incarnation;
    if (granted != *known)
      list_.put(granted);
  } else {
    list_.put(granted);
  }
  claimed_[task] = request.incarnation;
  confirmed_.insert(task);
  if (!is_known)
    absences_.erase(task); // the absence was that of the former incarnation
  track_absence(granted, now);
  return {.outcome = {}, .task = task, .incarnation = granted.incarnation};
}

status cluster_coordinator::merge(const member_list& former, time_point now) {
  auto epoch = former.epoch();
  if (epoch.term == list_.epoch().term)
    return {};
  if (epoch.term > list_.epoch().term) {
    if (settled(now) || epoch.term >= last_term)
      return failure(error_kind::failed_precondition, self_,
                     " has been replaced: another process has coordinated the cluster since");
    list_.begin_term(epoch.term + 1, self_); // this process's clock is behind
  }
  if (epoch <= merged_epoch_)
    return {};
  merged_epoch_ = epoch;
  for (const auto& [task, member] : former.members()) {
    if (confirmed_.contains(task))
      continue;
    auto former_member = member;
    if (former_member.state == presence::here)
      former_member.state = presence::unreachable;
    list_.put(former_member);
    track_absence(former_member, now);
  }
  return {};
}

void cluster_coordinator::connected(const task_name& task, uint64_t incarnation) {
  ++connections_[{task, incarnation}];
  const auto* member = list_.find(task);
  if (!member || member->incarnation != incarnation)
    return;
  absences_.erase(task);
  if (member->state != presence::here)
    set(task, presence::here);
}

void cluster_coordinator::lost(const task_name& task, uint64_t incarnation, time_point now) {
  auto connection = connections_.find({task, incarnation});
  if (connection == connections_.end())
    return;
  if (--connection->second == 0)
    connections_.erase(connection);
  if (const auto* member = list_.find(task); member && member->incarnation == incarnation)
    track_absence(*member, now);
}

void cluster_coordinator::left(const task_name& task, uint64_t incarnation) {
  const auto* member = list_.find(task);
  if (!member || member->incarnation != incarnation || task == self_)
    return;
  absences_.erase(task);
  set(task, presence::left);
}

void cluster_coordinator::tick(time_point now) {
  if (auto late = now - last_tick_ - options_.longest_pause; late.count() > 0)
    for (auto& [task, member_absence] : absences_)
      for (auto* time :
           {&member_absence.since, &member_absence.unreached, &member_absence.last_probe})
        *time += late;
  last_tick_ = now;
  if (!connections_.empty())
    alone_since_ = now;
  std::erase_if(absences_, [&](const auto& entry) {
    const auto& [task, member_absence] = entry;
    auto alone = std::max(alone_since_, member_absence.since) + options_.isolated_after <= now;
    if (alone || (member_absence.denied && member_absence.unreached + options_.gone_after <= now)) {
      set(task, presence::gone);
      return true;
    }
    if (member_absence.since + options_.unreachable_after <= now &&
        list_.find(task)->state == presence::here)
      set(task, presence::unreachable);
    return false;
  });
}

std::vector<cluster_coordinator::probe> cluster_coordinator::probes(time_point now) {
  std::vector<probe> due;
  for (auto& [task, member_absence] : absences_) {
    if (member_absence.since + options_.unreachable_after > now ||
        member_absence.last_probe + options_.probe_every > now)
      continue;
    member_absence.last_probe = now;
    // Asks members in turn, beginning after the one that was asked last.
    auto begin = list_.members().upper_bound(last_prober_);
    size_t asked = 0;
    for (auto entry = begin; asked < options_.probers;) {
      if (entry == list_.members().end())
        entry = list_.members().begin();
      else if (const auto& prober = entry->second;
               connections_.contains({prober.task, prober.incarnation})) {
        due.push_back({prober.task, {task, list_.find(task)->incarnation}});
        last_prober_ = prober.task;
        ++asked;
        ++entry;
      } else {
        ++entry;
      }
      if (entry == begin)
        break;
    }
  }
  return due;
}

std::vector<task_name> cluster_coordinator::unreachable() const {
  std::vector<task_name> tasks;
  for (const auto& [task, member] : list_.members())
    if (member.state == presence::unreachable)
      tasks.push_back(task);
  return tasks;
}

void cluster_coordinator::record(const probe_answer& result, time_point now) {
  const auto* member = list_.find(result.task);
  if (!member || member->incarnation != result.incarnation || result.task == self_)
    return;
  if (result.reached && member->state == presence::gone) {
    set(result.task, presence::unreachable);
    track_absence(*list_.find(result.task), now);
  }
  auto member_absence = absences_.find(result.task);
  if (member_absence == absences_.end())
    return;
  if (result.reached)
    member_absence->second.unreached = now;
  member_absence->second.denied = !result.reached;
}

void cluster_coordinator::set(const task_name& task, presence state) {
  auto member = *list_.find(task);
  if (member.state == state)
    return;
  member.state = state;
  list_.put(std::move(member));
}

void cluster_coordinator::track_absence(const cluster_member& member, time_point now) {
  if (member.task == self_ || !member.holds_number() ||
      connections_.contains({member.task, member.incarnation}))
    absences_.erase(member.task);
  else
    absences_.try_emplace(member.task, absence{now, now, now - options_.probe_every});
}

} // namespace troupe
