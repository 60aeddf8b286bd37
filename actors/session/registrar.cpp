#include "troupe/actors/session/registrar.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

constexpr std::chrono::milliseconds connect_margin{50};
// Who calls a task again and again gives up so long before the time is over.
constexpr std::chrono::milliseconds call_margin{500};
// How long a task is looked for until what may run elsewhere does; and one that was lost, or that
// is to take the place of another.
constexpr std::chrono::milliseconds patience_with_lost{5000}, last_look{250}, short_look{1000};

} // namespace

registrar::registrar(caf::event_based_actor* self, deadlines& due, worker_finder find,
                     step_mover move, restore_hooks lost_state)
    : self_(self), due_(due), find_(std::move(find)), move_(std::move(move)),
      lost_state_(std::move(lost_state)), unreachable_(patience_with_lost, last_look) {}

void registrar::ensure(const step_ptr& of, const asker& by, on_ready then) {
  auto step = current(of);
  if (auto may = unrestored(*step, by.knows); !may)
    return then(std::move(may));
  if (step->parts.complete())
    return then({});
  auto at = find(*step);
  auto fresh = !at;
  if (fresh) {
    at = std::make_shared<attempt>();
    at->step = step;
    at->since = self_->clock().now();
    under_way_.push_back(at);
  }
  auto who = at->waiting.insert(at->waiting.end(), {by, {}, std::move(then)});
  who->due = due_.add(self_, by.deadline, [=, this] { lose_patience(at, who); });
  who->stop = stop_request::watch(self_, by.stop, [=, this] {
    TROUPE_REACHED("who waits for a step to be registered wants it no more");
    dismiss(at, who, stopped_by_caller());
  });
  if (fresh)
    begin(at);
}

registrar::attempt_ptr registrar::find(const prepared_step& step) const {
  auto it =
      std::ranges::find_if(under_way_, [&](const auto& at) { return at->step.get() == &step; });
  return it == under_way_.end() ? nullptr : *it;
}

step_clock::time_point registrar::latest(const attempt& of) {
  auto last = step_clock::time_point::min();
  for (const auto& one : of.waiting)
    last = std::max(last, one.who.deadline);
  return last;
}

void registrar::begin(const attempt_ptr& at) {
  auto& step = *at->step;
  at->parts = step.parts.begin();
  at->missed.clear();
  at->moves = false;
  at->links_missing = at->parts.size();
  at->unlinked = {at->parts.begin(), at->parts.end()};
  auto number = step.parts.attempt();
  for (auto part : std::vector{at->parts}) {
    auto& one = step.participants[part];
    if (one.worker && one.handle != 0) // what it has is of no use any more
      caf::anon_send(one.worker, forget_program{std::exchange(one.handle, 0)});
    find_worker(at, part, number);
  }
}

// The task, and the process that it was when last heard of.
status registrar::naming(const attempt_ptr& at, size_t part, status why) {
  const auto& one = at->step->participants[part];
  return std::move(why).on_task(to_string(one.task)).of_incarnation(one.incarnation);
}

void registrar::find_worker(const attempt_ptr& at, size_t part, uint64_t number) {
  if (at->waiting.empty())
    return;
  auto until = latest(*at);
  const auto& task = at->step->participants[part].task;
  // Whoever cannot be reached is told why, a little before time is over.
  auto now = self_->clock().now();
  auto last = until - std::min<step_clock::duration>(connect_margin, (until - now) / 8);
  auto may_leave = at->step->participants[part].may_leave;
  auto enough = may_leave ? std::max(unreachable_.seek(task, now), at->stays_until) : last;
  if (may_leave && TROUPE_BUGGIFY("a task that a step may leave is hardly waited for"))
    enough = now + last_look;
  find_(task, std::min(last, enough), [=, this](const result<peer_link>& found) {
    auto& step = *at->step;
    if (found)
      unreachable_.found(task);
    if (number != step.parts.attempt())
      return;
    if (!found) {
      auto why = found.status().kind();
      auto silent = why == error_kind::unavailable || why == error_kind::not_found ||
                    why == error_kind::deadline_exceeded;
      if (may_leave && silent && enough < last && self_->clock().now() + call_margin >= enough)
        return leave(at, part, number);
      if (!at->waiting.empty() && latest(*at) > until) { // somebody has come who has more time
        TROUPE_REACHED("a task of a step is looked for again for who has more time");
        return find_worker(at, part, number);
      }
      // The error names it.
      if (step.participants[part].has_state && !std::ranges::all_of(at->waiting, is_retried))
        told(task);
      return follow(at, step.parts.refused(part, number, naming(at, part, found.status())));
    }
    step.participants[part].worker = found->exchange;
    step.participants[part].incarnation = found->incarnation;
    at->unlinked.erase(part);
    if (--at->links_missing == 0)
      register_parts(at, number);
  });
}

// Nothing of it runs there yet, nor elsewhere: it can begin among the living instead.
void registrar::leave(const attempt_ptr& at, size_t part, uint64_t number) {
  at->missed.push_back(part);
  unreachable_.lose(at->step->participants[part].task, self_->clock().now());
  if (!std::exchange(at->moves, true))
    place_again(at, number);
}

void registrar::place_again(const attempt_ptr& at, uint64_t number) {
  move_.place(at->step, latest(*at), [=, this](const step_ptr& moved) {
    if (number != at->step->parts.attempt())
      return;
    if (moved)
      return look_at(at, moved, number);
    at->moves = false;
    at->stays_until = self_->clock().now() + patience_with_lost;
    for (auto part : std::exchange(at->missed, {}))
      find_worker(at, part, number);
  });
}

// Where it would go may be away as well, as when a cluster starts.
void registrar::look_at(const attempt_ptr& at, const step_ptr& moved, uint64_t number) {
  auto missing = std::make_shared<size_t>(1);
  auto all_there = std::make_shared<bool>(true);
  auto settle = [=, this] {
    if (--*missing > 0 || number != at->step->parts.attempt())
      return;
    if (*all_there)
      become(at, moved);
    else
      place_again(at, number);
  };
  auto now = self_->clock().now();
  for (const auto& one : moved->participants) {
    if (!one.may_leave)
      continue;
    ++*missing;
    find_(one.task, now + short_look, [=, this, task = one.task](const result<peer_link>& found) {
      if (!found)
        unreachable_.lose(task, self_->clock().now());
      *all_there &= found.ok();
      settle();
    });
  }
  settle();
}

void registrar::become(const attempt_ptr& at, const step_ptr& moved) {
  TROUPE_REACHED("a step is placed again without a lost task");
  for (auto part : at->missed)
    if (const auto& task = at->step->participants[part].task; unreachable_.tell(task))
      move_.tell(task);
  at->step->moved = moved;
  at->step->parts.give_up();
  under_way_.remove(at);
  for (auto& one : std::exchange(at->waiting, {})) {
    due_.remove(one.due);
    ensure(moved, one.who, std::move(one.then));
  }
}

std::set<task_name> registrar::lost_tasks() {
  auto lost = unreachable_.lost();
  for (const auto& task : lost)
    if (looking_.insert(task).second)
      find_(task, self_->clock().now() + short_look, [=, this](const result<peer_link>& found) {
        looking_.erase(task);
        if (found)
          unreachable_.found(task);
      });
  return lost;
}

// A queue of a task that was restarted is empty: the step that finds it so fails, and says why,
// unless an error of another step has told of the task before.
bool registrar::has_lost_state(const attempt_ptr& at, uint64_t number) {
  auto& step = *at->step;
  std::vector<size_t> unsaid;
  std::string names;
  for (auto part : at->parts) {
    const auto& one = step.participants[part];
    if (!one.has_state || one.incarnation == 0)
      continue;
    auto found = held_.use(one.task, one.incarnation);
    if (found == held_state::found::there)
      continue;
    if (lost_state_.lose && lost_state_.lose({to_string(one.task), losses_ + 1}))
      unrestored_[one.task] = ++losses_;
    else if (found != held_state::found::lost_unsaid)
      continue;
    names += concat(unsaid.empty() ? "" : " and ", one.task);
    unsaid.push_back(part);
  }
  if (unsaid.empty())
    return turn_away(at);
  TROUPE_REACHED("a step finds that a task has lost its state");
  auto why = failure(error_kind::aborted, names, unsaid.size() == 1 ? " was" : " were",
                     " restarted, and what this session had there (variables, queues, tables) is "
                     "gone: initialize or restore it");
  follow(at, step.parts.refused(unsaid.front(), number,
                                std::move(why)
                                    .on_task(to_string(step.participants[unsaid.front()].task))
                                    .of_incarnation(step.participants[unsaid.front()].incarnation)
                                    .of_lost_state()));
  for (const auto& other : std::list{under_way_})
    if (std::ranges::find(under_way_, other) != under_way_.end()) // what was told may end others
      turn_away(other);
  return true;
}

// Says why a step must not run yet.
status registrar::unrestored(const prepared_step& step, uint64_t knows) {
  if (unrestored_.empty())
    return {};
  for (const auto& one : step.participants) {
    auto it = one.has_state ? unrestored_.find(one.task) : unrestored_.end();
    if (it == unrestored_.end() || it->second <= knows)
      continue;
    auto task = to_string(one.task);
    if (lost_state_.awaits && lost_state_.awaits(task))
      return failure(error_kind::aborted, task,
                     " was restarted, and what this session had there (variables, queues, tables) "
                     "is not restored yet")
          .on_task(task);
    unrestored_.erase(it);
  }
  return {};
}

// Those whose state is to be restored first wait no more. Says whether nobody is left.
bool registrar::turn_away(const attempt_ptr& at) {
  std::list<std::pair<waiter, status>> away;
  for (auto it = at->waiting.begin(); it != at->waiting.end();) {
    auto one = it++;
    if (auto may = unrestored(*at->step, one->who.knows); !may) {
      away.emplace_back(std::move(*one), std::move(may));
      at->waiting.erase(one);
    }
  }
  if (away.empty())
    return false;
  auto nobody = at->waiting.empty();
  if (nobody) {
    at->step->parts.give_up();
    under_way_.remove(at);
  }
  for (auto& [one, why] : away) {
    due_.remove(one.due);
    one.then(std::move(why));
  }
  return nobody;
}

void registrar::register_parts(const attempt_ptr& at, uint64_t number) {
  if (has_lost_state(at, number))
    return;
  for (auto part : std::vector{at->parts})
    register_part(at, part, number);
}

// Without a time-out of CAF's: a task that answers too late is told to forget the program.
void registrar::register_part(const attempt_ptr& at, size_t part, uint64_t number) {
  auto& step = *at->step;
  auto& one = step.participants[part];
  auto on_answer = [=, this, worker = one.worker](const registered& done) {
    auto& which = at->step->participants[part];
    auto what = at->step->parts.registered(part, number);
    if (what == registration::next::release) {
      TROUPE_REACHED("a program is registered too late");
      caf::anon_send(worker, forget_program{done.handle});
      return;
    }
    which.handle = done.handle;
    if (done.program && at->step->participants.size() == 1) {
      at->step->local = done.program;
      which.partitions.reset();
    }
    follow(at, what);
  };
  auto on_error = [=, this](const caf::error& why) {
    follow(at, at->step->parts.refused(part, number, naming(at, part, from_caf(why))));
  };
  if (!one.graphs) {
    self_->request(one.worker, caf::infinite, one.partitions).then(on_answer, on_error);
    return;
  }
  auto graphs = std::make_shared<register_graph>(*one.graphs);
  graphs->how.incarnation = one.incarnation;
  graphs->how.positions = positions_;
  for (auto other : one.partners)
    graphs->how.peers.push_back(
        {to_string(step.participants[other].task), step.participants[other].incarnation});
  self_->request(one.worker, caf::infinite, wire_registration{std::move(graphs)})
      .then(on_answer, on_error);
}

void registrar::follow(const attempt_ptr& at, registration::next what) {
  if (what == registration::next::complete) {
    end(at, {});
  } else if (what == registration::next::failed) {
    end(at, at->step->parts.error());
  } else if (what == registration::next::again) {
    TROUPE_REACHED("a task is lost while a step is registered");
    begin(at);
  }
}

void registrar::lose_patience(const attempt_ptr& at, std::list<waiter>::iterator who) {
  std::string silent;
  for (size_t i = 0; i < at->step->participants.size(); ++i)
    if (at->step->parts.asking(i))
      silent += concat(silent.empty() ? "" : ", ", at->step->participants[i].task);
  dismiss(at, who,
          failure(error_kind::deadline_exceeded, silent, " did not register the step in time"));
}

void registrar::dismiss(const attempt_ptr& at, std::list<waiter>::iterator who, status why) {
  auto then = std::move(who->then);
  due_.remove(who->due);
  at->waiting.erase(who);
  if (at->waiting.empty()) {
    at->step->parts.give_up();
    under_way_.remove(at);
  }
  then(std::move(why));
}

void registrar::end(const attempt_ptr& at, const status& how) {
  under_way_.remove(at);
  for (auto& one : std::exchange(at->waiting, {})) {
    due_.remove(one.due);
    one.then(how);
  }
}

client_wait_list registrar::waits(step_clock::time_point now) const {
  std::map<std::pair<std::string, std::string>, client_wait> found;
  for (const auto& at : under_way_)
    for (auto part : at->parts) {
      auto linked = !at->unlinked.contains(part);
      if (at->waiting.empty() ||
          (linked && (!at->unlinked.empty() || !at->step->parts.asking(part))))
        continue;
      auto target = to_string(at->step->participants[part].task);
      auto reason = linked ? "it has not registered the step yet" : "it is not connected";
      auto& entry = found[{target, reason}];
      entry.target = std::move(target);
      entry.reason = reason;
      entry.steps += static_cast<uint32_t>(at->waiting.size());
      entry.seconds =
          std::max(entry.seconds, std::chrono::duration<double>(now - at->since).count());
    }
  client_wait_list listed;
  for (auto& [key, entry] : found)
    if (listed.size() < client_wait::most)
      listed.push_back(std::move(entry));
  return listed;
}

void registrar::close(const status& why) {
  for (const auto& at : std::exchange(under_way_, {})) {
    at->step->parts.give_up();
    end(at, why);
  }
}

} // namespace troupe
