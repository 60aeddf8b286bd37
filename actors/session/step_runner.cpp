#include "troupe/actors/session/step_runner.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/execution/flight_report.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/runtime/cluster/distributed_step.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/actor_addr.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

// How long the tasks of a failed step may take to stop before the client is answered anyway; once
// the deadline has passed, it has waited long enough.
constexpr std::chrono::seconds stop_patience{2};
constexpr std::chrono::milliseconds late_stop_patience{50}, late_settle_patience{100};

} // namespace

struct running_step final : step_gate::waiter, std::enable_shared_from_this<running_step> {
  running_step(step_request what, caf::typed_response_promise<step_outcome> to,
               caf::event_based_actor* self)
      : request(std::move(what)), entered(request.step), reply(std::move(to)),
        state(request.step->participants.size()), master(self->address()) {}
  void let_in() override {
    if (auto to = caf::actor_cast<caf::actor>(master))
      caf::anon_send(to, turn_came{shared_from_this()});
  }
  const participant& part(size_t i) const { return request.step->participants[i]; }

  step_request request;
  const std::shared_ptr<prepared_step> entered; // by its gate
  caf::typed_response_promise<step_outcome> reply;
  distributed_step state;
  caf::actor_addr master;
  step_id id;
  uint64_t number = 0; // among all that came
  deadlines::key due;
  std::shared_ptr<stop_request> stop;
  std::vector<int64_t> asked_ns; // per participant
  std::vector<tensor> fetches;
  step_statistics statistics;
  std::vector<task_fill> fills;
  size_t refused_by = none; // who answered first that it does not know the step
  static constexpr size_t none = SIZE_MAX;
  bool in_line = false; // at the gate
  bool done = false;
};

namespace {

status knowing_incarnation(const running_step& run, status why) {
  for (const auto& one : run.request.step->participants)
    if (one.incarnation != 0 && why.origin().task == to_string(one.task))
      return std::move(why).of_incarnation(one.incarnation);
  return why;
}

// A task's clock counts from another moment than ours. It began the step after we had asked, and
// ended it before we heard: what lies between is split evenly, as NTP does (RFC 5905).
void add_statistics(running_step& run, size_t from, task_statistics&& what) {
  if (!what.subjects)
    return;
  if (run.part(from).graphs)
    shift(what, ((run.asked_ns[from] - what.begin_ns) + (steady_ns() - what.end_ns)) / 2);
  run.statistics.tasks.push_back(std::move(what));
}

status overdue_step(const running_step& run) {
  std::string names, lines;
  for (size_t i = 0; i < run.state.tasks(); ++i)
    if (run.state.silent(i)) {
      names += concat(names.empty() ? "" : ", ", run.part(i).task);
      lines += concat("\n    the answer of ", run.part(i).task, ", for ",
                      readable_time(steady_ns() - run.asked_ns[i]));
    }
  if (!lines.empty())
    lines.insert(0, "\n  the client waited for");
  return failure(error_kind::deadline_exceeded, "step ", run.id,
                 " was not done in time; no answer from ", names, lines);
}

} // namespace

caf::result<step_outcome> step_runner::run(const step_request& what) {
  if (auto fits = what.step->outside.check(what.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  if (what.stop.stop_requested())
    return step_outcome{stopped_by_caller(), {}};
  if (what.deadline <= self_->clock().now())
    return step_outcome{not_begun_in_time(), {}};
  auto promise = self_->make_response_promise<step_outcome>();
  auto run = std::make_shared<running_step>(what, promise, self_);
  run->number = came_++;
  running_.emplace(run->number, run);
  if (what.step->gate.enter(*run)) {
    register_and_start(run);
    return promise;
  }
  run->in_line = true;
  run->stop = stop_request::watch(self_, what.stop, [=, this] {
    TROUPE_REACHED("a step is stopped in line");
    finish(run, stopped_by_caller());
  });
  run->due = due_.add(self_, what.deadline,
                      [=, this] { finish(run, waited_in_line(run->request.step->gate)); });
  return promise;
}

void step_runner::enter(const turn_came& what) {
  const auto& run = what.run;
  if (run->done)
    return; // it has left again
  run->in_line = false;
  due_.remove(run->due);
  register_and_start(run);
}

// A task that was lost may be back.
void step_runner::register_and_start(const running_ptr& run) {
  const auto& what = run->request;
  run->stop = nullptr;
  registers_.ensure(what.step, {what.deadline, what.knows, what.retried, what.stop},
                    [=, this](status ready) {
                      if (run->done)
                        return;
                      if (ready)
                        start(run);
                      else
                        finish(run, std::move(ready));
                    });
}

void step_runner::note_filled(uint64_t fill, const participant& on) {
  auto& now = filled_[fill][on.task];
  now.restarted |= now.worker && now.incarnation != on.incarnation;
  now.worker = on.worker;
  now.incarnation = on.incarnation;
}

std::map<task_name, step_runner::filled> step_runner::take_filled(uint64_t fill) {
  auto taken = filled_.extract(fill);
  if (!taken)
    return {};
  std::erase_if(taken.mapped(), [&](const auto& one) {
    return !one.second.restarted && std::ranges::any_of(filled_, [&](const auto& other) {
      return other.second.contains(one.first);
    });
  });
  return std::move(taken.mapped());
}

void step_runner::start(const running_ptr& run) {
  run->request.step = current(run->request.step);
  auto& step = *run->request.step;
  run->state = distributed_step{step.participants.size()};
  // Where callers drive steps of the session as well, all draw from one count.
  run->id = {session_, step.local ? next_local_step() : ++begun_};
  run->asked_ns.assign(step.participants.size(), steady_ns());
  run->statistics.step = run->id.sequence;
  run->fetches.resize(step.outside.fetches);
  run->due = due_.add(self_, run->request.deadline, [=, this] { be_overdue(run); });
  run->stop = stop_request::watch(self_, run->request.stop, [=, this] { stop(run); });
  for (size_t i = 0; i < step.participants.size(); ++i) {
    const auto& one = step.participants[i];
    run_request what{.handle = one.handle,
                     .step = run->id,
                     .deadline = run->request.deadline,
                     .feeds = {},
                     .watch = run->request.watch,
                     .incarnation = one.incarnation,
                     .fills = run->request.fill != 0,
                     .retried = run->request.retried,
                     .stop = run->request.stop};
    if (what.fills && one.has_state && one.incarnation != 0) // 0: this process waits for nothing
      note_filled(run->request.fill, one);
    for (auto index : one.feeds)
      what.feeds.push_back({index, run->request.feeds[index]});
    // Without a time-out of CAF's, which it would keep until the deadline though the answer has
    // come. Workers and exchanges always answer; where they do not in time, `due` does.
    self_->request(one.worker, caf::infinite, std::move(what))
        .then([=, this](step_result& done) { answer(run, i, done); },
              [=, this](const caf::error& why) {
                auto task = to_string(run->part(i).task);
                auto lost = from_caf(why).on_task(task);
                if (lost.message().find(task) == std::string::npos)
                  lost = std::move(lost).within(task);
                step_result ended{std::move(lost), {}};
                answer(run, i, ended);
              });
  }
}

void step_runner::answer(const running_ptr& run, size_t from, step_result& what) {
  auto& step = *run->request.step;
  if (!step.local && (what.outcome.kind() == error_kind::unavailable ||
                      what.outcome.kind() == error_kind::aborted)) {
    step.parts.lose(from);
    if (what.outcome.kind() == error_kind::aborted && run->state.outcome().ok())
      run->refused_by = from;
  } else if (what.outcome && run->part(from).has_state) {
    registers_.reached(run->part(from).task);
  }
  if (what.holds)
    run->state.hold(from);
  if (what.fill != fill_stage::over)
    run->fills.push_back({to_string(run->part(from).task), what.fill});
  if (run->done)
    return take_back(run);
  add_statistics(*run, from, std::move(what.statistics));
  for (auto& one : what.fetches)
    if (one.index < run->fetches.size())
      run->fetches[one.index] = std::move(one.value);
  if (!what.outcome && !run->state.outcome().ok())
    add_reports(run->state.outcome(), what.outcome);
  follow(run, run->state.answer(from, std::move(what.outcome)));
}

void step_runner::follow(const running_ptr& run, distributed_step::next what) {
  if (what == distributed_step::next::cancel_others)
    cancel(run);
  else if (what == distributed_step::next::settle)
    settle(run);
  else if (what == distributed_step::next::end)
    finish(run, status{run->state.outcome()});
  take_back(run);
}

// Who keeps what the step took spends it, and says so: else a client that was told of a success
// might find the same things again.
void step_runner::settle(const running_ptr& run) {
  for (size_t i = 0; i < run->state.tasks(); ++i) {
    if (!run->state.silent(i))
      continue;
    auto answered = [=, this](status how) {
      auto task = to_string(run->part(i).task);
      if (!how)
        how = std::move(how).on_task(task).within(
            concat("what the step took on ", task, " may have been spent"));
      if (!run->done)
        follow(run, run->state.answer(i, std::move(how)));
    };
    self_->request(run->part(i).worker, caf::infinite, settle_request{run->id})
        .then([=](const status& how) { answered(how); },
              [=](const caf::error& why) { answered(from_caf(why)); });
  }
}

// What it took goes back.
void step_runner::take_back(const running_ptr& run) {
  for (auto i : run->state.take_holders())
    self_->send(run->part(i).worker,
                outgoing{cancel_step{run->id, without_reports(run->state.outcome())}});
}

// All of it has run in time where only the news is missing that what it took is spent.
void step_runner::be_overdue(const running_ptr& run) {
  if (!run->state.settles())
    return follow(run, run->state.fail(overdue_step(*run)));
  run->due = due_.add(self_, self_->clock().now() + late_settle_patience, [=, this] {
    follow(run, run->state.doubt(overdue_step(*run).within("what the step took may be spent")));
  });
}

// Its caller wants it no more. What has run to its end is told as that, but for the news that what
// it took is spent, which is not waited for longer than for others that stop.
void step_runner::stop(const running_ptr& run) {
  if (run->done)
    return;
  TROUPE_REACHED("a step is stopped while it runs");
  auto why = stopped_by_caller().within(concat("step ", run->id));
  if (!run->state.settles())
    return follow(run, run->state.fail(std::move(why)));
  auto patience = self_->clock().now() + stop_patience;
  if (patience >= run->request.deadline)
    return;
  due_.remove(run->due);
  run->due = due_.add(self_, patience, [=, this] {
    follow(run, run->state.doubt(status{why}.within("what the step took may be spent")));
  });
}

void step_runner::cancel(const running_ptr& run) {
  due_.remove(run->due);
  for (size_t i = 0; i < run->state.tasks(); ++i)
    if (run->state.silent(i))
      self_->send(run->part(i).worker,
                  outgoing{cancel_step{run->id, without_reports(run->state.outcome())}});
  auto now = self_->clock().now();
  auto latest = std::min(std::max(run->request.deadline, now), now + stop_patience);
  run->due = due_.add(self_, std::min(now + stop_patience, latest + late_stop_patience), [=, this] {
    TROUPE_REACHED("a task does not say that a step has stopped");
    follow(run, run->state.give_up());
  });
}

void step_runner::finish(const running_ptr& run, status outcome) {
  if (std::exchange(run->done, true))
    return;
  due_.remove(run->due);
  run->stop = nullptr;
  running_.erase(run->number);
  auto& gate = run->entered->gate;
  if (!run->in_line || !gate.withdraw(*run))
    gate.leave();
  if (!outcome) {
    run->fetches.clear();
    outcome = knowing_incarnation(*run, std::move(outcome));
  }
  note_told(*run, outcome);
  step_outcome told{.outcome = std::move(outcome),
                    .fetches = std::move(run->fetches),
                    .statistics = std::move(run->statistics),
                    .fills = std::move(run->fills)};
  if (auto& step = *run->request.step; !step.local && step.told_attempt != step.parts.attempt()) {
    told.held = step.held();
    if (told.outcome) // else the attempt may not have ended
      step.told_attempt = step.parts.attempt();
  }
  run->reply.deliver(std::move(told));
}

// Only what a caller can read counts: a task may answer that another is lost, or too late.
void step_runner::note_told(const running_step& run, const status& outcome) {
  if (run.request.step->local || run.request.retried ||
      (outcome.kind() != error_kind::unavailable && outcome.kind() != error_kind::aborted))
    return;
  for (size_t i = 0; i < run.state.tasks(); ++i)
    if (const auto& part = run.part(i);
        part.has_state &&
        (i == run.refused_by || names_task(outcome.message(), to_string(part.task))))
      registers_.told(part.task);
}

void step_runner::lose(const task_name& task, const status& why) {
  for (const auto& [number, run] : std::map{running_})
    for (size_t i = 0; i < run->state.tasks(); ++i)
      if (run->part(i).task == task && run->state.holds(i)) {
        TROUPE_REACHED("a task is lost that holds what a running step took");
        follow(run, run->state.fail(
                        failure(error_kind::unavailable, task,
                                " was lost, which held what the step took there: ", why.message())
                            .on_task(to_string(task))));
      }
}

void step_runner::close(const status& why) {
  for (const auto& [number, run] : std::map{running_})
    finish(run, why); // what tasks keep for them goes back when the connections end
}

} // namespace troupe
