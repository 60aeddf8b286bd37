#include "troupe/actors/session/master.hpp"

#include "troupe/actors/base/background_executor.hpp"
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/pending_answer.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/background_step.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/session/awaited_tasks.hpp"
#include "troupe/actors/session/gather_positions.hpp"
#include "troupe/actors/session/preparation.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/session/registrar.hpp"
#include "troupe/actors/session/step_runner.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <atomic>
#include <set>

namespace troupe {
namespace {

using step_ptr = std::shared_ptr<prepared_step>;

struct master_state {
  explicit master_state() {}
  static inline const char* name = "troupe.master";
  master_options options;
  caf::actor background; // the executor that compiles steps
  deadlines due;
  std::unique_ptr<awaited_tasks> awaited;
  std::unique_ptr<registrar> step_registrar;
  std::unique_ptr<step_runner> runner;
  std::vector<std::weak_ptr<pending_answer_base>> open_answers; // failed when the session closes
  std::vector<std::weak_ptr<prepared_step>> steps;
  std::vector<std::weak_ptr<preparation>> compiling; // on the background executor, or ended
  std::set<task_name> listed;                        // tasks whose devices are known
  std::set<std::string> warned;                      // ops and devices with a warning of placement
  bool watches_waits = false;                        // report_waits() is scheduled within a second
  bool reported_waits = false;                       // the last report to the membership had waits
};

using master_self = caf::stateful_actor<master_state>*;

void watch_waits(master_self self);

// Adds the task to the error.
status with_task(const task_name& task, status why) {
  auto name = to_string(task);
  why = std::move(why).with_task(name);
  return why.message().find(name) == std::string::npos ? std::move(why).with_context(name) : why;
}

caf::timespan timeout_until(master_self self, step_clock::time_point deadline) {
  constexpr std::chrono::hours century{100 * 365 * 24};
  auto left = std::chrono::duration_cast<caf::timespan>(deadline - self->clock().now());
  return std::clamp<caf::timespan>(left, std::chrono::milliseconds{1}, century);
}

// -- tasks ---------------------------------------------------------------------------------------

template <class Result>
std::shared_ptr<pending_answer<Result>>
make_pending_answer(master_self self, caf::typed_response_promise<Result> reply) {
  auto answer = std::make_shared<pending_answer<Result>>(std::move(reply));
  auto& open = self->state.open_answers;
  std::erase_if(open, [](const auto& other) { return other.expired(); });
  open.push_back(answer);
  return answer;
}

// Finds the worker of a task: in this process, or through the membership.
void find_worker(master_self self, const task_name& task, step_clock::time_point deadline,
                 std::function<void(result<peer_link>)> then, bool single_attempt = false) {
  const auto& options = self->state.options;
  if (auto worker = options.workers.find(task); worker != options.workers.end())
    return then(peer_link{task, 0, worker->second});
  if (!options.membership)
    return then(failure(error_kind::not_found, "there is no task ", task));
  watch_waits(self);
  // Without a timeout of CAF, which would keep it until the deadline after the answer: the
  // membership answers at the deadline.
  self->request(options.membership, caf::infinite,
                connect_request{task, deadline, false, single_attempt})
      .then([then](const peer_link& link) { then(link); },
            [then](const caf::error& why) { then(from_caf(why)); });
}

template <class Answer>
using answer_of = std::conditional_t<std::is_same_v<Answer, status>, status, result<Answer>>;

// How long to wait for tasks, and whether a refused connection is an answer.
struct patience_with_tasks {
  step_clock::time_point deadline;
  bool single_attempt = false;
};

// Asks these tasks, and calls `then` with all answers once each task has answered or failed.
template <class Answer, class... Question>
void ask_tasks(master_self self, const std::vector<task_name>& tasks, patience_with_tasks patience,
               std::function<void(std::vector<answer_of<Answer>>)> then, Question... question) {
  struct progress {
    std::vector<answer_of<Answer>> answers;
    size_t missing;
    std::function<void(std::vector<answer_of<Answer>>)> then;
  };
  auto gathered = std::make_shared<progress>();
  gathered->missing = tasks.size();
  gathered->then = std::move(then);
  for (const auto& task : tasks)
    gathered->answers.emplace_back(failure(error_kind::unavailable, task, " did not answer"));
  if (tasks.empty())
    return gathered->then({});
  for (size_t i = 0; i < tasks.size(); ++i) {
    auto record_answer = [gathered, i](answer_of<Answer> answer) {
      gathered->answers[i] = std::move(answer);
      if (--gathered->missing == 0)
        gathered->then(std::move(gathered->answers));
    };
    auto ask = [=, task = tasks[i]](const result<peer_link>& link) {
      if (!link)
        return record_answer(with_task(task, link.status()));
      self->request(link->exchange, timeout_until(self, patience.deadline), question...)
          .then([=](const Answer& answer) { record_answer(answer); },
                [=](const caf::error& why) {
                  record_answer(with_task(task, why == caf::sec::request_timeout
                                                    ? failure(error_kind::deadline_exceeded,
                                                              "it did not answer in time")
                                                    : from_caf(why)));
                });
    };
    find_worker(self, tasks[i], patience.deadline, ask, patience.single_attempt);
  }
}

std::vector<task_name> all_tasks(master_self self) {
  std::set<task_name> tasks;
  for (const auto& name : self->state.options.devices)
    tasks.insert(name.name_of_task());
  return {tasks.begin(), tasks.end()};
}

step_clock::time_point default_deadline(master_self self) {
  return self->clock().now() + self->state.options.patience;
}

status no_task_yet() {
  return failure(error_kind::unavailable, "no task of the cluster is known yet");
}

// Asks all tasks, or the task named `only`, as soon as any task is known.
template <class Answer, class... Question>
void ask_all(master_self self, const std::string& only, patience_with_tasks patience,
             std::function<void(std::vector<task_name>, std::vector<answer_of<Answer>>)> then,
             Question... question) {
  self->state.awaited->wait_for({}, patience.deadline, [=] {
    auto tasks = all_tasks(self);
    if (!only.empty())
      std::erase_if(tasks, [&](const auto& task) { return to_string(task) != only; });
    if (!tasks.empty())
      return ask_tasks<Answer>(
          self, tasks, patience,
          [=](std::vector<answer_of<Answer>> answers) { then(tasks, std::move(answers)); },
          question...);
    then({}, {only.empty() ? no_task_yet()
                           : failure(error_kind::not_found, "there is no task ", only)});
  });
}

// Joins the answers of tasks. A task that could not be asked becomes a problem. If no task is
// known, the first error is returned.
template <class Answer, class Take>
status join_answers(const std::vector<task_name>& tasks, const std::vector<result<Answer>>& answers,
                    std::vector<task_problem>& problems, const Take& take) {
  for (size_t i = 0; i < answers.size(); ++i)
    if (answers[i])
      take(*answers[i]);
    else if (tasks.empty())
      return answers[i].status();
    else
      problems.push_back(task_problem::of(to_string(tasks[i]), answers[i].status()));
  return {};
}

// -- waits ---------------------------------------------------------------------------------------

constexpr std::chrono::seconds report_waits_every{1};

// Reports the waits of steps that have not reached their tasks to the membership, for operators.
void report_waits(master_self self) {
  auto& state = self->state;
  state.watches_waits = false;
  auto waits = state.step_registrar->waits(self->clock().now());
  for (auto& wait : state.awaited->waits())
    if (waits.size() < client_wait::max_waits)
      waits.push_back(std::move(wait));
  auto any_waits = !waits.empty();
  if (any_waits || state.reported_waits)
    self->send(state.options.membership, waits_report{std::move(waits)});
  state.reported_waits = any_waits;
  if (any_waits)
    watch_waits(self);
}

// Called whenever a step may begin to wait.
void watch_waits(master_self self) {
  if (!self->state.options.membership || std::exchange(self->state.watches_waits, true))
    return;
  self->state.due.add(self, self->clock().now() + report_waits_every, [=] { report_waits(self); });
}

// -- devices -------------------------------------------------------------------------------------

// A remote task is known to have one CPU. Its other devices are listed when a node needs one.
std::vector<task_name> tasks_to_ask(master_self self, const graph& nodes) {
  std::set<task_name> wanted;
  const auto& state = self->state;
  std::set<std::string> named;
  for (const auto& node : nodes.nodes())
    named.merge(named_devices(*node));
  for (const auto& name : named) {
    auto wanted_device = device_name::parse(name);
    if (!wanted_device ||
        (kind_of(*wanted_device) != device_kind::gpu && wanted_device->ordinal <= 0) ||
        std::ranges::any_of(state.options.devices,
                            [&](const auto& known) { return wanted_device->matches(known); }))
      continue;
    for (const auto& task : all_tasks(self)) {
      device_name first_device{task.job, task.task, wanted_device->kind,
                               std::max(wanted_device->ordinal, 0)};
      if (wanted_device->matches(first_device) && !state.listed.contains(task))
        wanted.insert(task);
    }
  }
  return {wanted.begin(), wanted.end()};
}

void add_devices(device_list& known, const std::vector<device_info>& listed) {
  for (const auto& info : listed) {
    auto name = device_name::parse(info.name);
    if (!name || !name->is_complete() || std::ranges::find(known, *name) != known.end())
      continue;
    // After the other devices of its task.
    auto last = std::ranges::find_if(known.rbegin(), known.rend(), [&](const auto& known_name) {
      return known_name.name_of_task() == name->name_of_task();
    });
    known.insert(last == known.rend() ? known.end() : last.base(), *name);
  }
}

// If a task does not answer, the known devices may suffice: placement decides.
void ask_devices(master_self self, const prepare_request& request,
                 const std::function<void(status)>& then) {
  auto tasks = tasks_to_ask(self, *request.graph_copy->nodes);
  ask_tasks<std::vector<device_info>>(
      self, tasks, {std::min(request.deadline, default_deadline(self))},
      [=](const std::vector<result<std::vector<device_info>>>& answers) {
        status silent;
        for (size_t i = 0; i < tasks.size(); ++i)
          if (answers[i]) {
            self->state.listed.insert(tasks[i]);
            add_devices(self->state.options.devices, *answers[i]);
          } else if (silent.ok()) {
            silent = answers[i].status();
          }
        then(std::move(silent));
      },
      list_devices_atom::value);
}

void find_devices(master_self self, const prepare_request& request,
                  const std::function<void(status)>& then) {
  if (self->state.options.may_change)
    watch_waits(self);
  self->state.awaited->wait_for(*request.graph_copy->nodes, request.deadline, [=] {
    if (const auto& known = self->state.options; known.may_change && known.devices.empty())
      then(no_task_yet());
    else
      ask_devices(self, request, then);
  });
}

void tasks_changed(master_self self, const task_list& known) {
  auto& state = self->state;
  take_tasks(state.options.devices, known.tasks);
  std::erase_if(state.listed, [&](const auto& task) {
    return std::ranges::find(known.tasks, task) == known.tasks.end();
  });
  state.step_registrar->set_tasks(known.tasks);
  state.awaited->check();
}

// -- preparing -----------------------------------------------------------------------------------

std::shared_ptr<preparation> begin_preparation(master_self self, const prepare_request& request) {
  const auto& options = self->state.options;
  auto job = std::make_shared<preparation>();
  job->request = request;
  job->options = {.devices = options.devices,
                  .how = {.by_cost = options.programs.place_by_cost,
                          .strategy = options.programs.placement.strategy,
                          .soft = options.programs.placement.soft,
                          .avoid = self->state.step_registrar->lost_tasks()},
                  .passes = options.passes,
                  .host = options.host,
                  .transfer_precision = options.programs.transfer_precision,
                  .receives = options.programs.placement.receives};
  job->programs = options.programs;
  job->session_times = options.measured;
  job->session_links = options.links;
  job->session = options.session;
  job->container = options.container;
  for (const auto& [task, worker] : options.workers)
    job->local_tasks.insert(task);
  job->stop.arm(by_steady_clock(request.deadline, self->clock().now()));
  auto& compiling = self->state.compiling;
  std::erase_if(compiling, [](const auto& other) { return other.expired(); });
  compiling.push_back(job);
  return job;
}

void warn_of_placement(master_self self, const step_plan& plan) {
  const auto& warn = self->state.options.on_warning;
  for (const auto& [op, text] : plan.moved)
    if (self->state.warned.insert(op).second && warn)
      (void)guarded("on_warning", [&] {
        warn(concat(text, " (said once for ", op, " in a session)"));
      }).ok();
  for (const auto& [device, text] : plan.softened)
    if (self->state.warned.insert(device).second && warn)
      (void)guarded("on_warning", [&] {
        warn(concat(text, " (said once for '", device, "' in a session)"));
      }).ok();
}

// Records the step, so that the end of a connection to one of its tasks marks its parts as lost.
void watch_links(master_self self, const step_ptr& step) {
  auto& steps = self->state.steps;
  std::erase_if(steps, [](const auto& other) { return other.expired(); });
  steps.push_back(step);
}

void warn_of_left_task(master_self self, const task_name& task) {
  if (const auto& warn = self->state.options.on_warning)
    (void)guarded("on_warning", [&] {
      warn(concat(task, " does not come back: nodes that need not run there run on other tasks"));
    }).ok();
}

void place_again(master_self self, const step_ptr& step, step_clock::time_point deadline,
                 std::function<void(step_ptr)> then) {
  auto request = *step->request;
  request.deadline = deadline;
  auto job = begin_preparation(self, request);
  run_in_background(
      self, self->state.background,
      [=] {
        return guarded("placing the step again", [&] {
          // A copy, because the graph may be needed again.
          job->graph_copy = std::make_shared<step_graph>(copy_of(*job->request.graph_copy));
          return make_step(*job);
        });
      },
      [=](const result<step_ptr>& placed) {
        const auto& lost = job->options.how.avoid;
        auto is_lost = [&](const auto& part) {
          return part.is_movable && lost.contains(part.task);
        };
        // The list of tasks may have changed, but state stays on its tasks.
        auto gains_state = [&](const auto& part) {
          return part.has_state && std::ranges::none_of(step->participants, [&](const auto& old) {
                   return old.has_state && old.task == part.task;
                 });
        };
        if (!placed || std::ranges::any_of((*placed)->participants, is_lost) ||
            std::ranges::any_of((*placed)->participants, gains_state))
          return then(nullptr);
        watch_links(self, *placed);
        then(*placed);
      });
}

// Fails the request at its deadline if the background executor is busy with another step. The
// compilation checks the deadline itself, and may have a better error, so this waits a little
// longer. Returns a function that cancels the timer.
std::function<void()> answer_in_time(master_self self, const std::shared_ptr<preparation>& job,
                                     std::function<void(status)> fail) {
  constexpr std::chrono::milliseconds late{20};
  auto deadline = job->request.deadline;
  if (deadline == step_clock::time_point::max())
    return [] {};
  auto due = self->state.due.add(
      self, deadline + late, [weak_job = std::weak_ptr{job}, fail = std::move(fail)] {
        if (auto running_job = weak_job.lock())
          running_job->stop.raise();
        fail(failure(error_kind::deadline_exceeded, "the step was not compiled in time"));
      });
  return [=] { self->state.due.remove(due); };
}

caf::result<step_ptr> prepare(master_self self, const prepare_request& request) {
  if (request.deadline <= self->clock().now())
    return to_caf(deadline_passed_before_start());
  auto answer = make_pending_answer(self, self->make_response_promise<step_ptr>());
  auto compiling = std::make_shared<std::weak_ptr<preparation>>();
  answer->keep(stop_request::watch(self, request.stop, [=] {
    TROUPE_REACHED("work on a prepare request is stopped");
    if (auto job = compiling->lock())
      job->stop.raise();
    answer->fail(stopped_by_caller());
  }));
  find_devices(self, request, [=](const status& silent) {
    if (answer->is_answered())
      return;
    if (!silent.ok() && self->state.options.devices.empty())
      return answer->fail(silent);
    auto job = begin_preparation(self, request);
    *compiling = job;
    auto cancel_timer = answer_in_time(self, job, [=](const status& late) { answer->fail(late); });
    run_in_background(
        self, self->state.background,
        [=] { return guarded("compiling the step", [&] { return make_step(*job); }); },
        [=](const result<step_ptr>& compiled) {
          cancel_timer();
          if (!compiled && !silent.ok() &&
              compiled.status().kind() != error_kind::deadline_exceeded)
            return answer->fail(
                status{compiled.status()}.with_suffix(concat("; ", silent.message())));
          if (!compiled)
            return answer->fail(compiled.status());
          if (answer->is_answered())
            return;
          warn_of_placement(self, job->plan);
          auto step = *compiled;
          watch_links(self, step);
          answer->keep(nullptr); // from now on the registrar handles the stop request
          self->state.step_registrar->ensure(
              step, {request.deadline, request.acknowledged_loss, request.retried, request.stop},
              [=](const status& ready) {
                if (ready)
                  answer->deliver(current(step));
                else
                  answer->fail(ready);
              });
        });
  });
  return caf::delegated<step_ptr>{};
}

caf::result<placement_report> explain(master_self self, const explain_request& request) {
  if (request.request.deadline <= self->clock().now())
    return to_caf(deadline_passed_before_start());
  auto answer = make_pending_answer(self, self->make_response_promise<placement_report>());
  find_devices(self, request.request, [=](const status& silent) {
    auto job = begin_preparation(self, request.request);
    job->options.how.explain = true;
    auto cancel_timer = answer_in_time(self, job, [=](const status& late) { answer->fail(late); });
    run_in_background(
        self, self->state.background,
        [=]() -> result<placement_report> {
          return guarded("placing the step", [&]() -> result<placement_report> {
            TROUPE_TRY(plan_step(*job));
            return *job->plan.report;
          });
        },
        [=](const result<placement_report>& report) {
          cancel_timer();
          if (report)
            return answer->deliver(*report);
          answer->fail(silent.ok()
                           ? report.status()
                           : status{report.status()}.with_suffix(concat("; ", silent.message())));
        });
  });
  return caf::delegated<placement_report>{};
}

// Marks the parts on the task as lost, so that the next run registers them again without a failure.
void link_was_lost(master_self self, const link_lost& lost) {
  for (const auto& weak_step : self->state.steps)
    if (auto step = weak_step.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (step->participants[i].task == lost.task)
          step->registration_state.lose(i);
  self->state.runner->lose(lost.task, lost.reason);
}

// Marks a part as lost if its task reports that it has lost another task to which the part sends.
void part_was_lost(master_self self, const part_lost& lost) {
  for (const auto& weak_step : self->state.steps)
    if (auto step = weak_step.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (const auto& part = step->participants[i];
            part.task == lost.task && part.handle == lost.handle)
          step->registration_state.lose(i);
}

// -- other requests ------------------------------------------------------------------------------

caf::result<status> reset(master_self self, const reset_request& request) {
  auto answer = make_pending_answer(self, self->make_response_promise<status>());
  ask_all<status>(
      self, {}, {default_deadline(self)},
      [=](const std::vector<task_name>&, const std::vector<status>& outcomes) {
        auto failed =
            std::ranges::find_if(outcomes, [](const auto& outcome) { return !outcome.ok(); });
        answer->deliver(failed == outcomes.end() ? status{} : *failed);
      },
      request);
  return caf::delegated<status>{};
}

void ask_for_devices(master_self self, const survey_devices& wanted,
                     std::function<void(result<device_survey>)> then) {
  ask_all<std::vector<device_info>>(
      self, {}, {std::min(wanted.deadline, default_deadline(self)), true},
      [=](const std::vector<task_name>& tasks,
          const std::vector<result<std::vector<device_info>>>& answers) {
        device_survey survey;
        auto outcome = join_answers(tasks, answers, survey.problems, [&](const auto& listed) {
          survey.devices.insert(survey.devices.end(), listed.begin(), listed.end());
        });
        outcome ? then(std::move(survey)) : then(std::move(outcome));
      },
      list_devices_atom::value);
}

caf::result<device_survey> ask_for_devices(master_self self, const survey_devices& wanted) {
  auto answer = make_pending_answer(self, self->make_response_promise<device_survey>());
  ask_for_devices(self, wanted, [=](result<device_survey> survey) {
    survey ? answer->deliver(*std::move(survey)) : answer->fail(survey.status());
  });
  return caf::delegated<device_survey>{};
}

caf::result<std::vector<device_info>> list_devices(master_self self) {
  auto answer = make_pending_answer(self, self->make_response_promise<std::vector<device_info>>());
  ask_for_devices(self, {}, [=](result<device_survey> survey) {
    auto outcome = survey ? as_error(survey->problems) : survey.status();
    outcome ? answer->deliver(std::move(survey->devices)) : answer->fail(outcome);
  });
  return caf::delegated<std::vector<device_info>>{};
}

std::vector<device_info> known_devices(master_self self) {
  std::vector<device_info> infos;
  for (const auto& name : self->state.options.devices)
    infos.push_back({.name = to_string(name), .kind = name.kind, .description = {}});
  return infos;
}

void ask_for_state(master_self self, const survey_state& wanted,
                   std::function<void(result<state_survey>)> then) {
  ask_all<state_list>(
      self, wanted.task, {std::min(wanted.deadline, default_deadline(self)), true},
      [=](const std::vector<task_name>& tasks, const std::vector<result<state_list>>& answers) {
        state_survey survey;
        auto& joined_list = survey.state;
        auto outcome = join_answers(tasks, answers, survey.problems, [&](const state_list& listed) {
          joined_list.entries.insert(joined_list.entries.end(), listed.entries.begin(),
                                     listed.entries.end());
          joined_list.omitted_entries += listed.omitted_entries;
        });
        outcome ? then(std::move(survey)) : then(std::move(outcome));
      },
      list_state{wanted.task});
}

caf::result<state_survey> ask_for_state(master_self self, const survey_state& wanted) {
  auto answer = make_pending_answer(self, self->make_response_promise<state_survey>());
  ask_for_state(self, wanted, [=](result<state_survey> survey) {
    survey ? answer->deliver(*std::move(survey)) : answer->fail(survey.status());
  });
  return caf::delegated<state_survey>{};
}

caf::result<state_list> list_state_of(master_self self, const list_state& wanted) {
  auto answer = make_pending_answer(self, self->make_response_promise<state_list>());
  ask_for_state(self, {wanted.task}, [=](result<state_survey> survey) {
    auto outcome = survey ? as_error(survey->problems) : survey.status();
    outcome ? answer->deliver(std::move(survey->state)) : answer->fail(outcome);
  });
  return caf::delegated<state_list>{};
}

// Returns the workers of tasks that take part in steps now. Kernels on a lost task begin anew, or
// at the positions of its next registration.
std::map<task_name, caf::actor> workers_of_steps(master_self self) {
  auto workers = self->state.options.workers;
  for (const auto& weak_step : self->state.steps)
    if (auto step = weak_step.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (step->registration_state.ready(i))
          workers[step->participants[i].task] = step->participants[i].worker;
  return workers;
}

caf::result<std::vector<task_positions>> positions_of(master_self self, ask_positions& question) {
  if (auto valid = check_positions(question.restore_from); !valid)
    return to_caf(valid);
  auto answer =
      make_pending_answer(self, self->make_response_promise<std::vector<task_positions>>());
  if (!question.restore_from.empty())
    self->state.step_registrar->begin_at(question.restore_from);
  question.session = self->state.options.session;
  auto deliver = [=](result<std::vector<task_positions>> positions) {
    positions ? answer->deliver(*std::move(positions)) : answer->fail(positions.status());
  };
  auto workers = workers_of_steps(self);
  if (const auto& only = question.tasks; !only.empty())
    std::erase_if(workers, [&](const auto& entry) {
      return std::ranges::find(only, to_string(entry.first)) == only.end();
    });
  gather_positions(self, workers, question, deliver);
  return caf::delegated<std::vector<task_positions>>{};
}

// Tells the tasks that steps of this number have initialized them. A restarted task has lost the
// values of earlier steps, so it stays uninitialized.
caf::result<status> handle_end_initialization(master_self self, const end_initialization& request) {
  auto answer = make_pending_answer(self, self->make_response_promise<status>());
  auto tasks = self->state.runner->take_initialized(request.initialization);
  auto missing = std::make_shared<size_t>(tasks.size());
  auto outcome = std::make_shared<status>();
  auto record_answer = [=](const task_name& task, const status& task_answer) {
    if (!task_answer && outcome->ok())
      *outcome = with_task(task, task_answer);
    if (--*missing == 0)
      answer->deliver(std::move(*outcome));
  };
  if (tasks.empty())
    answer->deliver({});
  for (const auto& [task, initialized] : tasks) {
    auto kept_state = status{};
    if (initialized.restarted && request.done)
      kept_state =
          failure(error_kind::aborted, task,
                  " was restarted while it was initialized, and has lost the values of earlier "
                  "steps: initialize it again");
    self->request(
            initialized.worker, self->state.options.patience,
            end_initialization{request.done && !initialized.restarted, request.initialization})
        .then(
            [=, task = task](const status& task_answer) {
              record_answer(task, kept_state ? task_answer : kept_state);
            },
            [=, task = task](const caf::error& why) { record_answer(task, from_caf(why)); });
  }
  return caf::delegated<status>{};
}

void close(master_self self) {
  auto closed = failure(error_kind::cancelled, "the session is closed");
  auto& state = self->state;
  state.runner->close(closed);
  state.step_registrar->close(closed);
  for (const auto& weak_answer : std::exchange(state.open_answers, {}))
    if (auto answer = weak_answer.lock())
      answer->fail(closed);
  for (const auto& weak_job : std::exchange(state.compiling, {}))
    if (auto job = weak_job.lock())
      job->stop.raise();
  self->send_exit(state.background, caf::exit_reason::user_shutdown);
}

caf::behavior master_behavior(master_self self, master_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.background = spawn_background_executor(self->system());
  state.awaited = std::make_unique<awaited_tasks>(self, state.due, state.options);
  state.step_registrar = std::make_unique<registrar>(
      self, state.due, [=](const auto&... arguments) { find_worker(self, arguments...); },
      step_mover{[=](const auto&... arguments) { place_again(self, arguments...); },
                 [=](const task_name& task) { warn_of_left_task(self, task); }},
      state.options.lost_state);
  state.runner =
      std::make_unique<step_runner>(self, state.due, *state.step_registrar, state.options.session);
  if (state.options.membership)
    self->send(state.options.membership, watch_atom::value);
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& error) -> caf::error {
    close(self); // answers all waiting requests
    return exception_as_error(error);
  });
  self->set_exit_handler([=](const caf::exit_msg& message) {
    close(self);
    self->quit(message.reason);
  });
  return {
      [=](const step_request& request) { return self->state.runner->run(request); },
      [=](const prepare_request& request) { return prepare(self, request); },
      [=](const explain_request& request) { return explain(self, request); },
      [=](const gate_opened& opened) { self->state.runner->enter(opened); },
      [=](const stop_message& request) { request.act(); },
      [=](wake_atom) { self->state.due.wake(self); },
      [=](const link_lost& lost) { link_was_lost(self, lost); },
      [=](const part_lost& lost) { part_was_lost(self, lost); },
      [=](const task_list& known) { tasks_changed(self, known); },
      [=](const reset_request& request) { return reset(self, request); },
      [=](const end_initialization& request) { return handle_end_initialization(self, request); },
      [=](list_devices_atom) { return list_devices(self); },
      [=](const survey_devices& request) { return ask_for_devices(self, request); },
      [=](known_devices_atom) { return known_devices(self); },
      [=](const list_state& request) { return list_state_of(self, request); },
      [=](const survey_state& request) { return ask_for_state(self, request); },
      [=](ask_positions& question) { return positions_of(self, question); },
  };
}

} // namespace

uint64_t next_local_step() {
  // Each thread takes a block of numbers, because threads contend for a shared counter.
  constexpr uint64_t block_size = 1024;
  static std::atomic<uint64_t> blocks{0};
  thread_local uint64_t next = 0;
  if (next % block_size == 0)
    next = blocks.fetch_add(1, std::memory_order_relaxed) * block_size + 1;
  return next++;
}

caf::actor spawn_master(caf::actor_system& system, master_options options) {
  return system.spawn(master_behavior, std::move(options));
}

} // namespace troupe
