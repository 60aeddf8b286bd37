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

// How long the tasks of a failed step may take to stop before the client is answered without them;
// much shorter once the deadline has passed.
constexpr std::chrono::seconds stop_patience{2};
constexpr std::chrono::milliseconds late_stop_patience{50}, late_settle_patience{100};

} // namespace

struct running_step final : step_gate::waiter, std::enable_shared_from_this<running_step> {
  running_step(step_request step_to_run, caf::typed_response_promise<step_outcome> promise,
               caf::event_based_actor* self)
      : request(std::move(step_to_run)), entered(request.step), reply(std::move(promise)),
        state(request.step->participants.size()), master(self->address()) {}
  void admitted() override {
    if (auto actor = caf::actor_cast<caf::actor>(master))
      caf::anon_send(actor, gate_opened{shared_from_this()});
  }
  const participant& part(size_t i) const { return request.step->participants[i]; }

  step_request request;
  const std::shared_ptr<prepared_step> entered; // the step whose gate it has passed
  caf::typed_response_promise<step_outcome> reply;
  distributed_step state;
  caf::actor_addr master;
  step_id id;
  uint64_t number = 0; // in the order of arrival
  deadlines::key due;
  std::shared_ptr<stop_request> stop;
  std::vector<int64_t> asked_ns; // per participant
  std::vector<tensor> fetches;
  step_statistics statistics;
  std::vector<initialization_report> initialization_reports;
  size_t refused_by = none; // the first participant that answered that it does not know the step
  static constexpr size_t none = SIZE_MAX;
  bool queued = false; // at the gate
  bool done = false;
};

namespace {

status with_incarnation(const running_step& run, status why) {
  for (const auto& participant : run.request.step->participants)
    if (participant.incarnation != 0 && why.origin().task == to_string(participant.task))
      return std::move(why).with_incarnation(participant.incarnation);
  return why;
}

// The clock of another task has its own origin. The task began the step after the request was sent,
// and ended it before the answer came: the difference is split evenly, as in NTP (RFC 5905).
void add_statistics(running_step& run, size_t from, task_statistics&& measured) {
  if (!measured.subjects)
    return;
  if (run.part(from).graphs)
    shift(measured,
          ((run.asked_ns[from] - measured.begin_ns) + (steady_ns() - measured.end_ns)) / 2);
  run.statistics.tasks.push_back(std::move(measured));
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

caf::result<step_outcome> step_runner::run(const step_request& request) {
  if (auto fits = request.step->interface.check(request.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  if (request.stop.stop_requested())
    return step_outcome{stopped_by_caller(), {}};
  if (request.deadline <= self_->clock().now())
    return step_outcome{deadline_passed_before_start(), {}};
  auto promise = self_->make_response_promise<step_outcome>();
  auto run = std::make_shared<running_step>(request, promise, self_);
  run->number = next_number_++;
  running_.emplace(run->number, run);
  if (request.step->gate.enter(*run)) {
    register_and_start(run);
    return promise;
  }
  run->queued = true;
  run->stop = stop_request::watch(self_, request.stop, [=, this] {
    TROUPE_REACHED("a step is stopped while it is queued");
    finish(run, stopped_by_caller());
  });
  run->due = due_.add(self_, request.deadline,
                      [=, this] { finish(run, queue_timeout(run->request.step->gate)); });
  return promise;
}

void step_runner::enter(const gate_opened& opened) {
  const auto& run = opened.run;
  if (run->done)
    return; // it has left the queue
  run->queued = false;
  due_.remove(run->due);
  register_and_start(run);
}

// Registers the step again if a task was lost, because the task may have been restarted.
void step_runner::register_and_start(const running_ptr& run) {
  const auto& request = run->request;
  run->stop = nullptr;
  registrar_.ensure(request.step,
                    {request.deadline, request.acknowledged_loss, request.retried, request.stop},
                    [=, this](status ready) {
                      if (run->done)
                        return;
                      if (ready)
                        start(run);
                      else
                        finish(run, std::move(ready));
                    });
}

void step_runner::note_initialized(uint64_t initialization, const participant& part) {
  auto& noted = initialized_[initialization][part.task];
  noted.restarted |= noted.worker && noted.incarnation != part.incarnation;
  noted.worker = part.worker;
  noted.incarnation = part.incarnation;
}

std::map<task_name, step_runner::initialized_task>
step_runner::take_initialized(uint64_t initialization) {
  auto taken = initialized_.extract(initialization);
  if (!taken)
    return {};
  auto is_used_by_another = [&](const task_name& task) {
    return std::ranges::any_of(initialized_,
                               [&](const auto& other) { return other.second.contains(task); });
  };
  std::erase_if(taken.mapped(), [&](const auto& entry) {
    return !entry.second.restarted && is_used_by_another(entry.first);
  });
  return std::move(taken.mapped());
}

void step_runner::start(const running_ptr& run) {
  run->request.step = current(run->request.step);
  auto& step = *run->request.step;
  run->state = distributed_step{step.participants.size()};
  // If callers drive steps of the session as well, all steps are numbered by one counter.
  run->id = {session_, step.local ? next_local_step() : ++last_sequence_};
  run->asked_ns.assign(step.participants.size(), steady_ns());
  run->statistics.step = run->id.sequence;
  run->fetches.resize(step.interface.fetches);
  run->due = due_.add(self_, run->request.deadline, [=, this] { handle_deadline(run); });
  run->stop = stop_request::watch(self_, run->request.stop, [=, this] { stop(run); });
  for (size_t i = 0; i < step.participants.size(); ++i) {
    const auto& participant = step.participants[i];
    run_request request{.handle = participant.handle,
                        .step = run->id,
                        .deadline = run->request.deadline,
                        .feeds = {},
                        .watch = run->request.watch,
                        .incarnation = participant.incarnation,
                        .initializes = run->request.initialization != 0,
                        .retried = run->request.retried,
                        .stop = run->request.stop};
    // The incarnation 0 is this process, which serves without initialization.
    if (request.initializes && participant.has_state && participant.incarnation != 0)
      note_initialized(run->request.initialization, participant);
    for (auto index : participant.feeds)
      request.feeds.push_back({index, run->request.feeds[index]});
    // Without a timeout of CAF, which would keep it until the deadline after the answer. Workers
    // and exchanges always answer; if they are late, `due` ends the run.
    self_->request(participant.worker, caf::infinite, std::move(request))
        .then([=, this](step_result& answer) { take_answer(run, i, answer); },
              [=, this](const caf::error& why) {
                auto task = to_string(run->part(i).task);
                auto lost = from_caf(why).with_task(task);
                if (lost.message().find(task) == std::string::npos)
                  lost = std::move(lost).with_context(task);
                step_result ended{std::move(lost), {}};
                take_answer(run, i, ended);
              });
  }
}

void step_runner::take_answer(const running_ptr& run, size_t from, step_result& answer) {
  auto& step = *run->request.step;
  if (!step.local && (answer.outcome.kind() == error_kind::unavailable ||
                      answer.outcome.kind() == error_kind::aborted)) {
    step.registration_state.lose(from);
    if (answer.outcome.kind() == error_kind::aborted && run->state.outcome().ok())
      run->refused_by = from;
  } else if (answer.outcome && run->part(from).has_state) {
    registrar_.note_used(run->part(from).task);
  }
  if (answer.keeps_inputs)
    run->state.hold(from);
  if (answer.initialization != initialization_stage::over)
    run->initialization_reports.push_back({to_string(run->part(from).task), answer.initialization});
  if (run->done)
    return give_back(run);
  add_statistics(*run, from, std::move(answer.statistics));
  for (auto& fetch : answer.fetches)
    if (fetch.index < run->fetches.size())
      run->fetches[fetch.index] = std::move(fetch.value);
  if (!answer.outcome && !run->state.outcome().ok())
    add_reports(run->state.outcome(), answer.outcome);
  follow(run, run->state.answer(from, std::move(answer.outcome)));
}

void step_runner::follow(const running_ptr& run, distributed_step::next action) {
  if (action == distributed_step::next::cancel_others)
    cancel(run);
  else if (action == distributed_step::next::settle)
    settle(run);
  else if (action == distributed_step::next::end)
    finish(run, status{run->state.outcome()});
  give_back(run);
}

// Each task that holds values which the step took (from queues, for example) consumes them and
// confirms it. Without the confirmation, a client could find the values again after a success.
void step_runner::settle(const running_ptr& run) {
  for (size_t i = 0; i < run->state.tasks(); ++i) {
    if (!run->state.silent(i))
      continue;
    auto answered = [=, this](status outcome) {
      auto task = to_string(run->part(i).task);
      if (!outcome)
        outcome = std::move(outcome).with_task(task).with_context(
            concat("values that the step took on ", task, " may have been consumed"));
      if (!run->done)
        follow(run, run->state.answer(i, std::move(outcome)));
    };
    self_->request(run->part(i).worker, caf::infinite, settle_request{run->id})
        .then([=](const status& outcome) { answered(outcome); },
              [=](const caf::error& why) { answered(from_caf(why)); });
  }
}

// Tasks that hold values which the step took give them back.
void step_runner::give_back(const running_ptr& run) {
  for (auto i : run->state.take_holders())
    self_->send(run->part(i).worker,
                outgoing{cancel_step{run->id, without_reports(run->state.outcome())}});
}

// If only confirmations are missing that the values are consumed, the step has run in time.
void step_runner::handle_deadline(const running_ptr& run) {
  if (!run->state.settles())
    return follow(run, run->state.fail(overdue_step(*run)));
  run->due = due_.add(self_, self_->clock().now() + late_settle_patience, [=, this] {
    follow(run, run->state.end_unconfirmed(
                    overdue_step(*run).with_context("values that the step took may be consumed")));
  });
}

// The caller has requested a stop. A step that has run to its end succeeds; missing confirmations
// that its values are consumed are awaited for as long as the answers of tasks that stop.
void step_runner::stop(const running_ptr& run) {
  if (run->done)
    return;
  TROUPE_REACHED("a step is stopped while it runs");
  auto why = stopped_by_caller().with_context(concat("step ", run->id));
  if (!run->state.settles())
    return follow(run, run->state.fail(std::move(why)));
  auto patience = self_->clock().now() + stop_patience;
  if (patience >= run->request.deadline)
    return;
  due_.remove(run->due);
  run->due = due_.add(self_, patience, [=, this] {
    follow(run, run->state.end_unconfirmed(
                    status{why}.with_context("values that the step took may be consumed")));
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
    follow(run, run->state.end_now());
  });
}

void step_runner::finish(const running_ptr& run, status outcome) {
  if (std::exchange(run->done, true))
    return;
  due_.remove(run->due);
  run->stop = nullptr;
  running_.erase(run->number);
  auto& gate = run->entered->gate;
  if (!run->queued || !gate.withdraw(*run))
    gate.leave();
  if (!outcome) {
    run->fetches.clear();
    outcome = with_incarnation(*run, std::move(outcome));
  }
  note_reported_tasks(*run, outcome);
  step_outcome answer{.outcome = std::move(outcome),
                      .fetches = std::move(run->fetches),
                      .statistics = std::move(run->statistics),
                      .initialization_reports = std::move(run->initialization_reports)};
  auto& step = *run->request.step;
  if (!step.local && step.reported_attempt != step.registration_state.attempt()) {
    answer.state_tasks = step.state_holders();
    if (answer.outcome) // else the attempt may not have ended
      step.reported_attempt = step.registration_state.attempt();
  }
  run->reply.deliver(std::move(answer));
}

// Notes the tasks that the error names to the caller: a task may answer that another one is lost.
void step_runner::note_reported_tasks(const running_step& run, const status& outcome) {
  if (run.request.step->local || run.request.retried ||
      (outcome.kind() != error_kind::unavailable && outcome.kind() != error_kind::aborted))
    return;
  for (size_t i = 0; i < run.state.tasks(); ++i)
    if (const auto& part = run.part(i);
        part.has_state &&
        (i == run.refused_by || mentions_task(outcome.message(), to_string(part.task))))
      registrar_.note_reported(part.task);
}

void step_runner::lose(const task_name& task, const status& why) {
  for (const auto& [number, run] : std::map{running_})
    for (size_t i = 0; i < run->state.tasks(); ++i)
      if (run->part(i).task == task && run->state.holds(i)) {
        TROUPE_REACHED("a task is lost that holds what a running step took");
        follow(run,
               run->state.fail(
                   failure(error_kind::unavailable, task,
                           " was lost, which held values that the step took there: ", why.message())
                       .with_task(to_string(task))));
      }
}

void step_runner::close(const status& why) {
  for (const auto& [number, run] : std::map{running_})
    finish(run, why); // tasks give back what they hold when their connections end
}

} // namespace troupe
