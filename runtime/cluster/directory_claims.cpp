#include "troupe/runtime/cluster/directory_claims.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

void directory_claims::add(claim_id id, const number_claim& request, time_point now) {
  claims_.push_back({.id = id, .request = request, .since = now});
}

void directory_claims::withdraw(claim_id id) {
  std::erase_if(claims_, [&](const claim& former) { return former.id == id; });
}

directory_claims::decisions directory_claims::review(const directory_table& table, bool is_informed,
                                                     bool may_begin, time_point now) {
  decisions outcome;
  for (auto& next : claims_) {
    const auto& request = next.request;
    if (!next.held) {
      auto may_take = request.task >= 0 &&
                      (request.is_confirmed || (may_begin && now >= next.since + limits_.settle));
      if (is_informed || may_take)
        choose(next, table, now, outcome);
    } else if (!next.held->is_claimed) {
      if (must_yield(*next.held, table))
        outcome.replaced.emplace_back(
            next.id, failure(error_kind::failed_precondition, next.held->task,
                             " with the incarnation ", next.held->incarnation,
                             " has been replaced by another process; end the old process"));
    } else if (must_yield(*next.held, table)) {
      next.held.reset();
      choose(next, table, now, outcome);
    } else if (!is_informed) {
      next.since = now; // other processes may not have received the claim
    } else if (now >= next.since + limits_.settle) {
      next.held->is_claimed = false;
      outcome.decided.emplace_back(next.id, number_grant{.outcome = {},
                                                         .task = next.held->task,
                                                         .incarnation = next.held->incarnation});
    }
  }
  for (const auto& [id, why] : outcome.replaced)
    withdraw(id);
  for (const auto& [id, grant] : outcome.decided)
    if (!grant.outcome)
      withdraw(id);
  return outcome;
}

void directory_claims::choose(claim& next, const directory_table& table, time_point now,
                              decisions& outcome) {
  const auto& request = next.request;
  auto refuse = [&](status why) {
    outcome.decided.emplace_back(next.id, number_grant{.outcome = std::move(why)});
  };
  if (tasks().size() >= limits_.tasks_of_process)
    return refuse(failure(error_kind::resource_exhausted, "this process has ",
                          limits_.tasks_of_process, " tasks, which is the limit"));
  if (request.task >= 0) {
    task_name task{request.job, request.task};
    if (is_held(task))
      return refuse(failure(error_kind::already_exists, "this process has ", task, " already"));
    return take(next, task, table, outcome);
  }
  if (auto former = task_at(request.address, request.job, table))
    return take(next, *former, table, outcome);
  auto number = table.tasks().free_number(request.job, 0);
  while (is_held({request.job, number}) || table.former_incarnation({request.job, number}) != 0)
    number = table.tasks().free_number(request.job, number + 1);
  if (number >= max_tasks_of_job)
    return refuse(failure(error_kind::resource_exhausted, "the job '", request.job, "' has ",
                          max_tasks_of_job, " tasks already"));
  next.held = directory_task{.task = {request.job, number},
                             .address = request.address,
                             .incarnation = request.incarnation,
                             .is_claimed = true};
  next.since = now;
}

// Takes a number, whichever process has it.
void directory_claims::take(claim& next, const task_name& task, const directory_table& table,
                            decisions& outcome) {
  auto incarnation = next.request.incarnation;
  if (auto former = table.former_incarnation(task); former != 0 && !next.request.is_confirmed)
    incarnation = std::max(incarnation, former + 1);
  if (!next.request.is_confirmed)
    for (const auto& [process, entry] : table.tasks().holders_of(task))
      if (process != own_process_)
        incarnation = std::max(incarnation, entry.incarnation + 1);
  next.held =
      directory_task{.task = task, .address = next.request.address, .incarnation = incarnation};
  outcome.decided.emplace_back(
      next.id, number_grant{.outcome = {}, .task = task, .incarnation = incarnation});
}

bool directory_claims::is_held(const task_name& task) const {
  return std::ranges::any_of(
      claims_, [&](const claim& other) { return other.held && other.held->task == task; });
}

// A confirmed task yields to a later process. A claimed number yields to a confirmed one, and to an
// earlier claim.
bool directory_claims::must_yield(const directory_task& held, const directory_table& table) const {
  return std::ranges::any_of(table.tasks().holders_of(held.task), [&](const auto& holder) {
    const auto& [process, other] = holder;
    if (process == own_process_ || (other.is_claimed && !held.is_claimed))
      return false;
    auto own_rank = std::pair{held.incarnation, own_process_};
    auto other_rank = std::pair{other.incarnation, process};
    if (!held.is_claimed)
      return other_rank > own_rank;
    return !other.is_claimed || other_rank < own_rank;
  });
}

// A process at the address of this one has ended.
std::optional<task_name> directory_claims::task_at(const std::string& address,
                                                   const std::string& job,
                                                   const directory_table& table) const {
  const auto& entries = table.tasks().entries();
  for (auto entry = entries.lower_bound({job, 0});
       entry != entries.end() && entry->first.job == job; ++entry)
    if (entry->second.address == address && entry->second.process != own_process_)
      return entry->first;
  return {};
}

std::vector<directory_task> directory_claims::tasks() const {
  std::vector<directory_task> held;
  for (const auto& entry : claims_)
    if (entry.held)
      held.push_back(*entry.held);
  return held;
}

bool directory_claims::has_pending() const {
  return std::ranges::any_of(claims_,
                             [](const claim& next) { return !next.held || next.held->is_claimed; });
}

} // namespace troupe
