#include "troupe/actors/session/registrar.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

constexpr std::chrono::milliseconds connect_margin{50};
// The membership repeats calls to a task that refuses them, and may stop this long before the
// deadline.
constexpr std::chrono::milliseconds call_margin{500};
// How long to wait for a task before movable parts move to other tasks; for a task that was lost
// before; and for a task that is to replace another.
constexpr std::chrono::milliseconds patience_with_lost{5000}, retry_patience{250},
    replacement_patience{1000};

} // namespace

registrar::registrar(caf::event_based_actor* self, deadlines& due, worker_finder find,
                     step_mover move, restore_hooks lost_state)
    : self_(self), due_(due), find_(std::move(find)), move_(std::move(move)),
      lost_state_(std::move(lost_state)), unreachable_(patience_with_lost, retry_patience) {}

void registrar::ensure(const step_ptr& prepared, const requester& caller, on_ready then) {
  auto step = current(prepared);
  if (auto restored = check_restored(*step, caller.acknowledged_loss); !restored)
    return then(std::move(restored));
  if (step->registration_state.complete())
    return then({});
  auto registering = find(*step);
  auto is_new = !registering;
  if (is_new) {
    registering = std::make_shared<attempt>();
    registering->step = step;
    registering->since = self_->clock().now();
    attempts_.push_back(registering);
  }
  auto waiting =
      registering->waiting.insert(registering->waiting.end(), {caller, {}, std::move(then)});
  waiting->due = due_.add(self_, caller.deadline, [=, this] { time_out(registering, waiting); });
  waiting->stop = stop_request::watch(self_, caller.stop, [=, this] {
    TROUPE_REACHED("work on a registration is stopped for one caller");
    dismiss(registering, waiting, stopped_by_caller());
  });
  if (is_new)
    begin(registering);
}

registrar::attempt_ptr registrar::find(const prepared_step& step) const {
  auto attempt_of_step = std::ranges::find_if(
      attempts_, [&](const auto& registering) { return registering->step.get() == &step; });
  return attempt_of_step == attempts_.end() ? nullptr : *attempt_of_step;
}

step_clock::time_point registrar::latest_deadline(const attempt& registering) {
  auto last = step_clock::time_point::min();
  for (const auto& waiting : registering.waiting)
    last = std::max(last, waiting.caller.deadline);
  return last;
}

void registrar::begin(const attempt_ptr& registering) {
  auto& step = *registering->step;
  registering->parts = step.registration_state.begin();
  registering->missed.clear();
  registering->moves = false;
  registering->links_missing = registering->parts.size();
  registering->unlinked = {registering->parts.begin(), registering->parts.end()};
  auto number = step.registration_state.attempt();
  for (auto part : std::vector{registering->parts}) {
    auto& participant = step.participants[part];
    if (participant.worker && participant.handle != 0) // the task need not keep the former program
      caf::anon_send(participant.worker, forget_program{std::exchange(participant.handle, 0)});
    find_worker(registering, part, number);
  }
}

// Adds the task to the error, and the last known incarnation of the task.
status registrar::with_task(const attempt_ptr& registering, size_t part, status why) {
  const auto& participant = registering->step->participants[part];
  return std::move(why)
      .with_task(to_string(participant.task))
      .with_incarnation(participant.incarnation);
}

void registrar::find_worker(const attempt_ptr& registering, size_t part, uint64_t number) {
  if (registering->waiting.empty())
    return;
  auto until = latest_deadline(*registering);
  const auto& task = registering->step->participants[part].task;
  // A search ends a little before the deadline, so that its error reaches the requesters.
  auto now = self_->clock().now();
  auto last = until - std::min<step_clock::duration>(connect_margin, (until - now) / 8);
  auto is_movable = registering->step->participants[part].is_movable;
  auto until_leave =
      is_movable ? std::max(unreachable_.begin_search(task, now), registering->stays_until) : last;
  if (is_movable && TROUPE_BUGGIFY("a task that a step may leave is hardly waited for"))
    until_leave = now + retry_patience;
  find_(task, std::min(last, until_leave), [=, this](const result<peer_link>& link) {
    auto& step = *registering->step;
    if (link)
      unreachable_.note_found(task);
    if (number != step.registration_state.attempt())
      return;
    if (!link) {
      auto kind = link.status().kind();
      auto silent = kind == error_kind::unavailable || kind == error_kind::not_found ||
                    kind == error_kind::deadline_exceeded;
      if (is_movable && silent && until_leave < last &&
          self_->clock().now() + call_margin >= until_leave)
        return leave_task(registering, part, number);
      // A requester with a later deadline has come meanwhile.
      if (!registering->waiting.empty() && latest_deadline(*registering) > until) {
        TROUPE_REACHED("a task of a step is looked for again until a later deadline");
        return find_worker(registering, part, number);
      }
      // The error names the task.
      if (step.participants[part].has_state &&
          !std::ranges::all_of(registering->waiting, is_retried))
        note_reported(task);
      return follow(registering, step.registration_state.refused(
                                     part, number, with_task(registering, part, link.status())));
    }
    step.participants[part].worker = link->exchange;
    step.participants[part].incarnation = link->incarnation;
    registering->unlinked.erase(part);
    if (--registering->links_missing == 0)
      register_parts(registering, number);
  });
}

// No part of the step runs anywhere yet, so the step can be placed again without the task.
void registrar::leave_task(const attempt_ptr& registering, size_t part, uint64_t number) {
  registering->missed.push_back(part);
  unreachable_.note_lost(registering->step->participants[part].task, self_->clock().now());
  if (!std::exchange(registering->moves, true))
    place_again(registering, number);
}

void registrar::place_again(const attempt_ptr& registering, uint64_t number) {
  move_.place(registering->step, latest_deadline(*registering), [=, this](const step_ptr& moved) {
    if (number != registering->step->registration_state.attempt())
      return;
    if (moved)
      return check_tasks_of(registering, moved, number);
    registering->moves = false;
    registering->stays_until = self_->clock().now() + patience_with_lost;
    for (auto part : std::exchange(registering->missed, {}))
      find_worker(registering, part, number);
  });
}

// The tasks of a new placement may be unreachable as well, for example when a cluster starts.
void registrar::check_tasks_of(const attempt_ptr& registering, const step_ptr& moved,
                               uint64_t number) {
  auto missing = std::make_shared<size_t>(1);
  auto all_reachable = std::make_shared<bool>(true);
  auto end_check = [=, this] {
    if (--*missing > 0 || number != registering->step->registration_state.attempt())
      return;
    if (*all_reachable)
      move_to(registering, moved);
    else
      place_again(registering, number);
  };
  auto now = self_->clock().now();
  for (const auto& participant : moved->participants) {
    if (!participant.is_movable)
      continue;
    ++*missing;
    find_(participant.task, now + replacement_patience,
          [=, this, task = participant.task](const result<peer_link>& link) {
            if (!link)
              unreachable_.note_lost(task, self_->clock().now());
            *all_reachable &= link.ok();
            end_check();
          });
  }
  end_check();
}

void registrar::move_to(const attempt_ptr& registering, const step_ptr& moved) {
  TROUPE_REACHED("a step is placed again without a lost task");
  for (auto part : registering->missed)
    if (const auto& task = registering->step->participants[part].task;
        unreachable_.take_report(task))
      move_.report_left(task);
  registering->step->replacement = moved;
  registering->step->registration_state.give_up();
  attempts_.remove(registering);
  for (auto& waiting : std::exchange(registering->waiting, {})) {
    due_.remove(waiting.due);
    ensure(moved, waiting.caller, std::move(waiting.then));
  }
}

std::set<task_name> registrar::lost_tasks() {
  auto lost = unreachable_.lost();
  for (const auto& task : lost)
    if (reconnecting_.insert(task).second)
      find_(task, self_->clock().now() + replacement_patience,
            [=, this](const result<peer_link>& link) {
              reconnecting_.erase(task);
              if (link)
                unreachable_.note_found(task);
            });
  return lost;
}

// A queue of a restarted task is empty. The first step that uses the task after the restart fails
// with that reason, unless an error of another step has named the task before.
bool registrar::has_lost_state(const attempt_ptr& registering, uint64_t number) {
  auto& step = *registering->step;
  std::vector<size_t> lost_parts;
  std::string names;
  for (auto part : registering->parts) {
    const auto& participant = step.participants[part];
    if (!participant.has_state || participant.incarnation == 0)
      continue;
    auto outcome = held_.use(participant.task, participant.incarnation);
    if (outcome == held_state::check_result::present)
      continue;
    if (lost_state_.on_state_lost &&
        lost_state_.on_state_lost({to_string(participant.task), losses_ + 1}))
      unrestored_[participant.task] = ++losses_;
    else if (outcome != held_state::check_result::lost_unreported)
      continue;
    names += concat(lost_parts.empty() ? "" : " and ", participant.task);
    lost_parts.push_back(part);
  }
  if (lost_parts.empty())
    return dismiss_unrestored(registering);
  TROUPE_REACHED("a step finds that a task has lost its state");
  auto why = failure(error_kind::aborted, names, lost_parts.size() == 1 ? " was" : " were",
                     " restarted, and the state of this session there (variables, queues, tables) "
                     "is lost: initialize or restore it");
  follow(registering, step.registration_state.refused(
                          lost_parts.front(), number,
                          std::move(why)
                              .with_task(to_string(step.participants[lost_parts.front()].task))
                              .with_incarnation(step.participants[lost_parts.front()].incarnation)
                              .with_lost_state()));
  for (const auto& other : std::list{attempts_})
    if (std::ranges::find(attempts_, other) != attempts_.end()) // a callback may have ended it
      dismiss_unrestored(other);
  return true;
}

// Returns the error of a step that uses lost state which is not restored yet.
status registrar::check_restored(const prepared_step& step, uint64_t acknowledged_loss) {
  if (unrestored_.empty())
    return {};
  for (const auto& participant : step.participants) {
    auto loss = participant.has_state ? unrestored_.find(participant.task) : unrestored_.end();
    if (loss == unrestored_.end() || loss->second <= acknowledged_loss)
      continue;
    auto task = to_string(participant.task);
    if (lost_state_.awaits_restore && lost_state_.awaits_restore(task))
      return failure(
                 error_kind::aborted, task,
                 " was restarted, and the state of this session there (variables, queues, tables) "
                 "is not restored yet")
          .with_task(task);
    unrestored_.erase(loss);
  }
  return {};
}

// Fails the requesters that must wait for lost state to be restored. Returns whether none is left.
bool registrar::dismiss_unrestored(const attempt_ptr& registering) {
  std::list<std::pair<waiter, status>> dismissed;
  for (auto next = registering->waiting.begin(); next != registering->waiting.end();) {
    auto waiting = next++;
    auto restored = check_restored(*registering->step, waiting->caller.acknowledged_loss);
    if (!restored) {
      dismissed.emplace_back(std::move(*waiting), std::move(restored));
      registering->waiting.erase(waiting);
    }
  }
  if (dismissed.empty())
    return false;
  auto none_left = registering->waiting.empty();
  if (none_left) {
    registering->step->registration_state.give_up();
    attempts_.remove(registering);
  }
  for (auto& [waiting, why] : dismissed) {
    due_.remove(waiting.due);
    waiting.then(std::move(why));
  }
  return none_left;
}

void registrar::register_parts(const attempt_ptr& registering, uint64_t number) {
  if (has_lost_state(registering, number))
    return;
  for (auto part : std::vector{registering->parts})
    register_part(registering, part, number);
}

// Without a timeout of CAF: a task that answers too late receives forget_program.
void registrar::register_part(const attempt_ptr& registering, size_t part, uint64_t number) {
  auto& step = *registering->step;
  auto& participant = step.participants[part];
  auto on_answer = [=, this, worker = participant.worker](const registered& answer) {
    auto& registered_part = registering->step->participants[part];
    auto action = registering->step->registration_state.registered(part, number);
    if (action == registration::next::release) {
      TROUPE_REACHED("a program is registered too late");
      caf::anon_send(worker, forget_program{answer.handle});
      return;
    }
    registered_part.handle = answer.handle;
    if (answer.program && registering->step->participants.size() == 1) {
      registering->step->local = answer.program;
      registered_part.partitions.reset();
    }
    follow(registering, action);
  };
  auto on_error = [=, this](const caf::error& why) {
    follow(registering, registering->step->registration_state.refused(
                            part, number, with_task(registering, part, from_caf(why))));
  };
  if (!participant.graphs) {
    self_->request(participant.worker, caf::infinite, participant.partitions)
        .then(on_answer, on_error);
    return;
  }
  auto graphs = std::make_shared<register_graph>(*participant.graphs);
  graphs->settings.incarnation = participant.incarnation;
  graphs->settings.positions = positions_;
  for (auto other : participant.partners)
    graphs->settings.peers.push_back(
        {to_string(step.participants[other].task), step.participants[other].incarnation});
  self_->request(participant.worker, caf::infinite, wire_registration{std::move(graphs)})
      .then(on_answer, on_error);
}

void registrar::follow(const attempt_ptr& registering, registration::next action) {
  if (action == registration::next::complete) {
    end(registering, {});
  } else if (action == registration::next::failed) {
    end(registering, registering->step->registration_state.error());
  } else if (action == registration::next::again) {
    TROUPE_REACHED("a task is lost while a step is registered");
    begin(registering);
  }
}

void registrar::time_out(const attempt_ptr& registering, std::list<waiter>::iterator waiting) {
  std::string silent;
  for (size_t i = 0; i < registering->step->participants.size(); ++i)
    if (registering->step->registration_state.asking(i))
      silent += concat(silent.empty() ? "" : ", ", registering->step->participants[i].task);
  dismiss(registering, waiting,
          failure(error_kind::deadline_exceeded, silent, " did not register the step in time"));
}

void registrar::dismiss(const attempt_ptr& registering, std::list<waiter>::iterator waiting,
                        status why) {
  auto then = std::move(waiting->then);
  due_.remove(waiting->due);
  registering->waiting.erase(waiting);
  if (registering->waiting.empty()) {
    registering->step->registration_state.give_up();
    attempts_.remove(registering);
  }
  then(std::move(why));
}

void registrar::end(const attempt_ptr& registering, const status& outcome) {
  attempts_.remove(registering);
  for (auto& waiting : std::exchange(registering->waiting, {})) {
    due_.remove(waiting.due);
    waiting.then(outcome);
  }
}

client_wait_list registrar::waits(step_clock::time_point now) const {
  std::map<std::pair<std::string, std::string>, client_wait> waits_by_reason;
  for (const auto& registering : attempts_)
    for (auto part : registering->parts) {
      auto linked = !registering->unlinked.contains(part);
      if (registering->waiting.empty() ||
          (linked &&
           (!registering->unlinked.empty() || !registering->step->registration_state.asking(part))))
        continue;
      auto target = to_string(registering->step->participants[part].task);
      auto reason = linked ? "it has not registered the step yet" : "it is not connected";
      auto& entry = waits_by_reason[{target, reason}];
      entry.target = std::move(target);
      entry.reason = reason;
      entry.steps += static_cast<uint32_t>(registering->waiting.size());
      entry.seconds =
          std::max(entry.seconds, std::chrono::duration<double>(now - registering->since).count());
    }
  client_wait_list listed;
  for (auto& [key, entry] : waits_by_reason)
    if (listed.size() < client_wait::max_waits)
      listed.push_back(std::move(entry));
  return listed;
}

void registrar::close(const status& why) {
  for (const auto& registering : std::exchange(attempts_, {})) {
    registering->step->registration_state.give_up();
    end(registering, why);
  }
}

} // namespace troupe
