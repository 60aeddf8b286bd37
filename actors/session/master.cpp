#include "troupe/actors/session/master.hpp"

#include "troupe/actors/base/clerk.hpp"
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
  caf::actor clerk;
  deadlines due;
  std::unique_ptr<awaited_tasks> awaits;
  std::unique_ptr<registrar> registers;
  std::unique_ptr<step_runner> runs;
  std::vector<std::weak_ptr<unanswered>> open; // answered when the session closes, at the latest
  std::vector<std::weak_ptr<prepared_step>> steps;
  std::vector<std::weak_ptr<preparation>> compiled; // that a clerk has, or has had
  std::set<task_name> listed;                       // whose devices are known
  std::set<std::string> moved;                      // ops of which somebody has been warned
  bool looks_at_waits = false, told_waits = false;  // in a second; of some
};

using master_self = caf::stateful_actor<master_state>*;

void watch_waits(master_self self);

// Errors name the task that they come from.
status naming(const task_name& task, status why) {
  auto name = to_string(task);
  why = std::move(why).on_task(name);
  return why.message().find(name) == std::string::npos ? std::move(why).within(name) : why;
}

caf::timespan until(master_self self, step_clock::time_point deadline) {
  constexpr std::chrono::hours century{100 * 365 * 24};
  auto left = std::chrono::duration_cast<caf::timespan>(deadline - self->clock().now());
  return std::clamp<caf::timespan>(left, std::chrono::milliseconds{1}, century);
}

// -- tasks ---------------------------------------------------------------------------------------

template <class Result>
std::shared_ptr<pending_answer<Result>> owe(master_self self,
                                            caf::typed_response_promise<Result> reply) {
  auto made = std::make_shared<pending_answer<Result>>(std::move(reply));
  auto& open = self->state.open;
  std::erase_if(open, [](const auto& one) { return one.expired(); });
  open.push_back(made);
  return made;
}

// Finds the worker of a task: in this process, or through the membership.
void find_worker(master_self self, const task_name& task, step_clock::time_point deadline,
                 std::function<void(result<peer_link>)> then, bool once = false) {
  const auto& options = self->state.options;
  if (auto it = options.workers.find(task); it != options.workers.end())
    return then(peer_link{task, 0, it->second});
  if (!options.membership)
    return then(failure(error_kind::not_found, "there is no task ", task));
  watch_waits(self);
  // Without a time-out of CAF's, which it would keep until the deadline though the answer has come:
  // the membership answers at the deadline.
  self->request(options.membership, caf::infinite, connect_request{task, deadline, false, once})
      .then([then](const peer_link& link) { then(link); },
            [then](const caf::error& why) { then(from_caf(why)); });
}

template <class Answer>
using answer_of = std::conditional_t<std::is_same_v<Answer, status>, status, result<Answer>>;

// How tasks are asked: until when, and whether a refused connection is an answer.
struct patience_with_tasks {
  step_clock::time_point deadline;
  bool once = false;
};

// Asks these tasks, and calls back with what each says once all have answered or cannot.
template <class Answer, class... Question>
void ask_tasks(master_self self, const std::vector<task_name>& tasks, patience_with_tasks patience,
               std::function<void(std::vector<answer_of<Answer>>)> then, Question... question) {
  struct progress {
    std::vector<answer_of<Answer>> answers;
    size_t missing;
    std::function<void(std::vector<answer_of<Answer>>)> then;
  };
  auto all = std::make_shared<progress>();
  all->missing = tasks.size();
  all->then = std::move(then);
  for (const auto& task : tasks)
    all->answers.emplace_back(failure(error_kind::unavailable, task, " did not answer"));
  if (tasks.empty())
    return all->then({});
  for (size_t i = 0; i < tasks.size(); ++i) {
    auto settle = [all, i](answer_of<Answer> what) {
      all->answers[i] = std::move(what);
      if (--all->missing == 0)
        all->then(std::move(all->answers));
    };
    auto ask = [=, task = tasks[i]](const result<peer_link>& found) {
      if (!found)
        return settle(naming(task, found.status()));
      self->request(found->exchange, until(self, patience.deadline), question...)
          .then([=](const Answer& one) { settle(one); },
                [=](const caf::error& why) {
                  settle(naming(task, why == caf::sec::request_timeout
                                          ? failure(error_kind::deadline_exceeded,
                                                    "it did not answer in time")
                                          : from_caf(why)));
                });
    };
    find_worker(self, tasks[i], patience.deadline, ask, patience.once);
  }
}

std::vector<task_name> all_tasks(master_self self) {
  std::set<task_name> tasks;
  for (const auto& one : self->state.options.devices)
    tasks.insert(one.on_task());
  return {tasks.begin(), tasks.end()};
}

step_clock::time_point soon(master_self self) {
  return self->clock().now() + self->state.options.patience;
}

status no_task_yet() {
  return failure(error_kind::unavailable, "no task of the cluster is known yet");
}

// The same with all tasks, or that one, once any is known.
template <class Answer, class... Question>
void ask_all(master_self self, const std::string& only, patience_with_tasks patience,
             std::function<void(std::vector<task_name>, std::vector<answer_of<Answer>>)> then,
             Question... question) {
  self->state.awaits->wait_for({}, patience.deadline, [=] {
    auto tasks = all_tasks(self);
    if (!only.empty())
      std::erase_if(tasks, [&](const auto& one) { return to_string(one) != only; });
    if (!tasks.empty())
      return ask_tasks<Answer>(
          self, tasks, patience,
          [=](std::vector<answer_of<Answer>> answers) { then(tasks, std::move(answers)); },
          question...);
    then({}, {only.empty() ? no_task_yet()
                           : failure(error_kind::not_found, "there is no task ", only)});
  });
}

// Joins what tasks say. Of tasks that cannot be asked, the problems are kept; where no task is
// known, that is the error.
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

constexpr std::chrono::seconds look_at_waits_again{1};

// Operators see what steps wait for before they reach their tasks, once that takes a second.
void tell_of_waits(master_self self) {
  auto& state = self->state;
  state.looks_at_waits = false;
  auto waits = state.registers->waits(self->clock().now());
  for (auto& each : state.awaits->waits())
    if (waits.size() < client_wait::most)
      waits.push_back(std::move(each));
  auto some = !waits.empty();
  if (some || state.told_waits)
    self->send(state.options.membership, tell_waits{std::move(waits)});
  state.told_waits = some;
  if (some)
    watch_waits(self);
}

// Called whenever something may begin to wait.
void watch_waits(master_self self) {
  if (!self->state.options.membership || std::exchange(self->state.looks_at_waits, true))
    return;
  self->state.due.add(self, self->clock().now() + look_at_waits_again,
                      [=] { tell_of_waits(self); });
}

// -- devices -------------------------------------------------------------------------------------

// A remote task is known to have one processor; what else it has is asked when a node wants it.
std::vector<task_name> tasks_to_ask(master_self self, const graph& of) {
  std::set<task_name> wanted;
  const auto& state = self->state;
  std::set<std::string> named;
  for (const auto& at : of.nodes())
    named.merge(named_devices(*at));
  for (const auto& name : named) {
    auto asked = device_name::parse(name);
    if (!asked || (kind_of(*asked) != device_kind::gpu && asked->ordinal <= 0) ||
        std::ranges::any_of(state.options.devices,
                            [&](const auto& one) { return asked->matches(one); }))
      continue;
    for (const auto& task : all_tasks(self)) {
      device_name any{task.job, task.task, asked->kind, std::max(asked->ordinal, 0)};
      if (asked->matches(any) && !state.listed.contains(task))
        wanted.insert(task);
    }
  }
  return {wanted.begin(), wanted.end()};
}

void learn(device_list& known, const std::vector<device_info>& listed) {
  for (const auto& info : listed) {
    auto name = device_name::parse(info.name);
    if (!name || !name->whole() || std::ranges::find(known, *name) != known.end())
      continue;
    // Behind the others of its task.
    auto last = std::ranges::find_if(known.rbegin(), known.rend(), [&](const auto& one) {
      return one.on_task() == name->on_task();
    });
    known.insert(last == known.rend() ? known.end() : last.base(), *name);
  }
}

// What is known suffices where one task is silent and no node needs it: placement will say.
void ask_devices(master_self self, const prepare_request& what,
                 const std::function<void(status)>& then) {
  auto tasks = tasks_to_ask(self, *what.of->nodes);
  ask_tasks<std::vector<device_info>>(
      self, tasks, {std::min(what.deadline, soon(self))},
      [=](const std::vector<result<std::vector<device_info>>>& answers) {
        status silent;
        for (size_t i = 0; i < tasks.size(); ++i)
          if (answers[i]) {
            self->state.listed.insert(tasks[i]);
            learn(self->state.options.devices, *answers[i]);
          } else if (silent.ok()) {
            silent = answers[i].status();
          }
        then(std::move(silent));
      },
      list_devices_atom::value);
}

void learn_devices(master_self self, const prepare_request& what,
                   const std::function<void(status)>& then) {
  if (self->state.options.may_change)
    watch_waits(self);
  self->state.awaits->wait_for(*what.of->nodes, what.deadline, [=] {
    if (const auto& known = self->state.options; known.may_change && known.devices.empty())
      then(no_task_yet());
    else
      ask_devices(self, what, then);
  });
}

void tasks_changed(master_self self, const tasks_known& now) {
  auto& state = self->state;
  take_tasks(state.options.devices, now.tasks);
  std::erase_if(state.listed, [&](const auto& task) {
    return std::ranges::find(now.tasks, task) == now.tasks.end();
  });
  state.registers->tasks_are(now.tasks);
  state.awaits->look();
}

// -- preparing -----------------------------------------------------------------------------------

std::shared_ptr<preparation> prepare_by(master_self self, const prepare_request& what) {
  const auto& options = self->state.options;
  auto made = std::make_shared<preparation>();
  made->what = what;
  made->plan = {.devices = options.devices,
                .how = {.by_cost = options.programs.place_by_cost,
                        .strategy = options.programs.placement.strategy,
                        .soft = options.programs.placement.soft,
                        .avoid = self->state.registers->lost_tasks()},
                .passes = options.passes,
                .host = options.host,
                .between_tasks = options.programs.between_tasks,
                .receives = options.programs.placement.receives};
  made->programs = options.programs;
  made->source = options.measured;
  made->ways = options.links;
  made->session = options.session;
  made->container = options.container;
  for (const auto& [task, worker] : options.workers)
    made->here.insert(task);
  made->stop.arm(by_steady_clock(what.deadline, self->clock().now()));
  auto& compiled = self->state.compiled;
  std::erase_if(compiled, [](const auto& one) { return one.expired(); });
  compiled.push_back(made);
  return made;
}

void tell_moved(master_self self, const step_plan& plan) {
  const auto& warn = self->state.options.on_warning;
  for (const auto& [op, text] : plan.moved)
    if (self->state.moved.insert(op).second && warn)
      (void)guarded("on_warning", [&] {
        warn(concat(text, " (said once for ", op, " in a session)"));
      }).ok();
  for (const auto& [asked, text] : plan.softened)
    if (self->state.moved.insert(asked).second && warn)
      (void)guarded("on_warning", [&] {
        warn(concat(text, " (said once for '", asked, "' in a session)"));
      }).ok();
}

// Of the tasks that take part in it.
void watch_links(master_self self, const step_ptr& step) {
  auto& steps = self->state.steps;
  std::erase_if(steps, [](const auto& one) { return one.expired(); });
  steps.push_back(step);
}

void tell_left(master_self self, const task_name& task) {
  if (const auto& warn = self->state.options.on_warning)
    (void)guarded("on_warning", [&] {
      warn(concat(task, " does not come back: what need not run there runs on other tasks"));
    }).ok();
}

void place_again(master_self self, const step_ptr& step, step_clock::time_point deadline,
                 std::function<void(step_ptr)> then) {
  auto what = *step->again;
  what.deadline = deadline;
  auto how = prepare_by(self, what);
  leave_to(
      self, self->state.clerk,
      [=] {
        return guarded("placing the step again", [&] {
          how->work =
              std::make_shared<step_graph>(copy_of(*how->what.of)); // it may be needed again
          return make_step(*how);
        });
      },
      [=](const result<step_ptr>& made) {
        const auto& lost = how->plan.how.avoid;
        auto is_lost = [&](const auto& one) { return one.may_leave && lost.contains(one.task); };
        // The list of tasks may be another one now, but state is where it was.
        auto strays = [&](const auto& one) {
          return one.has_state && std::ranges::none_of(step->participants, [&](const auto& before) {
                   return before.has_state && before.task == one.task;
                 });
        };
        if (!made || std::ranges::any_of((*made)->participants, is_lost) ||
            std::ranges::any_of((*made)->participants, strays))
          return then(nullptr);
        watch_links(self, *made);
        then(*made);
      });
}

// The clerk may be busy with another step: whoever waits for this one is answered in time. What
// compiles looks at the clock itself, and may have more to say.
std::function<void()> answer_in_time(master_self self, const std::shared_ptr<preparation>& how,
                                     std::function<void(status)> fail) {
  constexpr std::chrono::milliseconds late{20};
  auto deadline = how->what.deadline;
  if (deadline == step_clock::time_point::max())
    return [] {};
  auto due = self->state.due.add(
      self, deadline + late, [weak = std::weak_ptr{how}, fail = std::move(fail)] {
        if (auto work = weak.lock())
          work->stop.raise();
        fail(failure(error_kind::deadline_exceeded, "the step was not compiled in time"));
      });
  return [=] { self->state.due.remove(due); };
}

caf::result<step_ptr> prepare(master_self self, const prepare_request& what) {
  if (what.deadline <= self->clock().now())
    return to_caf(not_begun_in_time());
  auto answer = owe(self, self->make_response_promise<step_ptr>());
  auto compiling = std::make_shared<std::weak_ptr<preparation>>();
  answer->keep(stop_request::watch(self, what.stop, [=] {
    TROUPE_REACHED("what prepares a step is stopped");
    if (auto work = compiling->lock())
      work->stop.raise();
    answer->fail(stopped_by_caller());
  }));
  learn_devices(self, what, [=](const status& silent) {
    if (answer->is_answered())
      return;
    if (!silent.ok() && self->state.options.devices.empty())
      return answer->fail(silent);
    auto how = prepare_by(self, what);
    *compiling = how;
    auto in_time = answer_in_time(self, how, [=](const status& late) { answer->fail(late); });
    leave_to(
        self, self->state.clerk,
        [=] { return guarded("compiling the step", [&] { return make_step(*how); }); },
        [=](const result<step_ptr>& made) {
          in_time();
          if (!made && !silent.ok() && made.status().kind() != error_kind::deadline_exceeded)
            return answer->fail(status{made.status()}.followed_by(concat("; ", silent.message())));
          if (!made)
            return answer->fail(made.status());
          if (answer->is_answered())
            return;
          tell_moved(self, how->made);
          auto step = *made;
          watch_links(self, step);
          answer->keep(nullptr); // the registrar sees to it
          self->state.registers->ensure(step, {what.deadline, what.knows, what.retried, what.stop},
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

caf::result<placement_report> explain(master_self self, const explain_request& what) {
  if (what.what.deadline <= self->clock().now())
    return to_caf(not_begun_in_time());
  auto answer = owe(self, self->make_response_promise<placement_report>());
  learn_devices(self, what.what, [=](const status& silent) {
    auto how = prepare_by(self, what.what);
    how->plan.how.explain = true;
    auto in_time = answer_in_time(self, how, [=](const status& late) { answer->fail(late); });
    leave_to(
        self, self->state.clerk,
        [=]() -> result<placement_report> {
          return guarded("placing the step", [&]() -> result<placement_report> {
            TROUPE_TRY(plan_step(*how));
            return *how->made.report;
          });
        },
        [=](const result<placement_report>& made) {
          in_time();
          if (made)
            return answer->deliver(*made);
          answer->fail(silent.ok()
                           ? made.status()
                           : status{made.status()}.followed_by(concat("; ", silent.message())));
        });
  });
  return caf::delegated<placement_report>{};
}

// Steps need not fail to find out.
void link_was_lost(master_self self, const link_lost& what) {
  for (const auto& weak : self->state.steps)
    if (auto step = weak.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (step->participants[i].task == what.task)
          step->parts.lose(i);
  self->state.runs->lose(what.task, what.why);
}

// The same where a task has lost another that its part sends to.
void part_was_lost(master_self self, const part_lost& what) {
  for (const auto& weak : self->state.steps)
    if (auto step = weak.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (const auto& one = step->participants[i];
            one.task == what.task && one.handle == what.handle)
          step->parts.lose(i);
}

// -- the rest ------------------------------------------------------------------------------------

caf::result<status> reset(master_self self, const reset_request& what) {
  auto answer = owe(self, self->make_response_promise<status>());
  ask_all<status>(
      self, {}, {soon(self)},
      [=](const std::vector<task_name>&, const std::vector<status>& all) {
        auto failed = std::ranges::find_if(all, [](const auto& one) { return !one.ok(); });
        answer->deliver(failed == all.end() ? status{} : *failed);
      },
      what);
  return caf::delegated<status>{};
}

void ask_for_devices(master_self self, const survey_devices& wanted,
                     std::function<void(result<device_survey>)> then) {
  ask_all<std::vector<device_info>>(
      self, {}, {std::min(wanted.deadline, soon(self)), true},
      [=](const std::vector<task_name>& tasks,
          const std::vector<result<std::vector<device_info>>>& all) {
        device_survey found;
        auto joined = join_answers(tasks, all, found.problems, [&](const auto& listed) {
          found.devices.insert(found.devices.end(), listed.begin(), listed.end());
        });
        joined ? then(std::move(found)) : then(std::move(joined));
      },
      list_devices_atom::value);
}

caf::result<device_survey> ask_for_devices(master_self self, const survey_devices& wanted) {
  auto answer = owe(self, self->make_response_promise<device_survey>());
  ask_for_devices(self, wanted, [=](result<device_survey> found) {
    found ? answer->deliver(*std::move(found)) : answer->fail(found.status());
  });
  return caf::delegated<device_survey>{};
}

caf::result<std::vector<device_info>> list_devices(master_self self) {
  auto answer = owe(self, self->make_response_promise<std::vector<device_info>>());
  ask_for_devices(self, {}, [=](result<device_survey> found) {
    auto outcome = found ? as_error(found->problems) : found.status();
    outcome ? answer->deliver(std::move(found->devices)) : answer->fail(outcome);
  });
  return caf::delegated<std::vector<device_info>>{};
}

std::vector<device_info> known_devices(master_self self) {
  std::vector<device_info> found;
  for (const auto& one : self->state.options.devices)
    found.push_back({.name = to_string(one), .kind = one.kind, .description = {}});
  return found;
}

void ask_for_state(master_self self, const survey_state& wanted,
                   std::function<void(result<state_survey>)> then) {
  ask_all<state_list>(
      self, wanted.task, {std::min(wanted.deadline, soon(self)), true},
      [=](const std::vector<task_name>& tasks, const std::vector<result<state_list>>& all) {
        state_survey found;
        auto& to = found.state;
        auto joined = join_answers(tasks, all, found.problems, [&](const state_list& listed) {
          to.entries.insert(to.entries.end(), listed.entries.begin(), listed.entries.end());
          to.left_out += listed.left_out;
        });
        joined ? then(std::move(found)) : then(std::move(joined));
      },
      list_state{wanted.task});
}

caf::result<state_survey> ask_for_state(master_self self, const survey_state& wanted) {
  auto answer = owe(self, self->make_response_promise<state_survey>());
  ask_for_state(self, wanted, [=](result<state_survey> found) {
    found ? answer->deliver(*std::move(found)) : answer->fail(found.status());
  });
  return caf::delegated<state_survey>{};
}

caf::result<state_list> list_state_of(master_self self, const list_state& wanted) {
  auto answer = owe(self, self->make_response_promise<state_list>());
  ask_for_state(self, {wanted.task}, [=](result<state_survey> found) {
    auto outcome = found ? as_error(found->problems) : found.status();
    outcome ? answer->deliver(std::move(found->state)) : answer->fail(outcome);
  });
  return caf::delegated<state_list>{};
}

// Tasks that take part in steps now. A lost one begins anew, or where its next registration says.
std::map<task_name, caf::actor> workers_of_steps(master_self self) {
  auto found = self->state.options.workers;
  for (const auto& weak : self->state.steps)
    if (auto step = weak.lock())
      for (size_t i = 0; i < step->participants.size(); ++i)
        if (step->parts.ready(i))
          found[step->participants[i].task] = step->participants[i].worker;
  return found;
}

caf::result<std::vector<task_positions>> positions_of(master_self self, ask_positions& what) {
  if (auto known = check_positions(what.go_on_from); !known)
    return to_caf(known);
  auto answer = owe(self, self->make_response_promise<std::vector<task_positions>>());
  if (!what.go_on_from.empty())
    self->state.registers->begin_at(what.go_on_from);
  what.session = self->state.options.session;
  auto tell = [=](result<std::vector<task_positions>> found) {
    found ? answer->deliver(*std::move(found)) : answer->fail(found.status());
  };
  auto asked = workers_of_steps(self);
  if (const auto& only = what.tasks; !only.empty())
    std::erase_if(asked, [&](const auto& one) {
      return std::ranges::find(only, to_string(one.first)) == only.end();
    });
  gather_positions(self, asked, what, tell);
  return caf::delegated<std::vector<task_positions>>{};
}

// Tells the tasks that steps have filled. Of one that is lost, what it had is lost as well.
caf::result<status> end_filling(master_self self, const end_fill& what) {
  auto answer = owe(self, self->make_response_promise<status>());
  auto tasks = self->state.runs->take_filled(what.fill);
  auto missing = std::make_shared<size_t>(tasks.size());
  auto outcome = std::make_shared<status>();
  auto settle = [=](const task_name& task, const status& one) {
    if (!one && outcome->ok())
      *outcome = naming(task, one);
    if (--*missing == 0)
      answer->deliver(std::move(*outcome));
  };
  if (tasks.empty())
    answer->deliver({});
  for (const auto& [task, of] : tasks) {
    auto said = status{};
    if (of.restarted && what.done)
      said = failure(error_kind::aborted, task,
                     " was restarted while it was filled, and lacks what was there before: fill it "
                     "again");
    self->request(of.worker, self->state.options.patience,
                  end_fill{what.done && !of.restarted, what.fill})
        .then([=, task = task](const status& one) { settle(task, said ? one : said); },
              [=, task = task](const caf::error& why) { settle(task, from_caf(why)); });
  }
  return caf::delegated<status>{};
}

void close(master_self self) {
  auto closed = failure(error_kind::cancelled, "the session is closed");
  auto& state = self->state;
  state.runs->close(closed);
  state.registers->close(closed);
  for (const auto& one : std::exchange(state.open, {}))
    if (auto waits = one.lock())
      waits->fail(closed);
  for (const auto& one : std::exchange(state.compiled, {})) // nobody waits for them
    if (auto work = one.lock())
      work->stop.raise();
  self->send_exit(state.clerk, caf::exit_reason::user_shutdown);
}

caf::behavior master_behavior(master_self self, master_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.clerk = spawn_clerk(self->system());
  state.awaits = std::make_unique<awaited_tasks>(self, state.due, state.options);
  state.registers = std::make_unique<registrar>(
      self, state.due, [=](const auto&... what) { find_worker(self, what...); },
      step_mover{[=](const auto&... what) { place_again(self, what...); },
                 [=](const task_name& task) { tell_left(self, task); }},
      state.options.lost_state);
  state.runs =
      std::make_unique<step_runner>(self, state.due, *state.registers, state.options.session);
  if (state.options.membership)
    self->send(state.options.membership, watch_atom::value);
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& what) -> caf::error {
    close(self); // all who wait are answered
    return exception_as_error(what);
  });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    close(self);
    self->quit(what.reason);
  });
  return {
      [=](const step_request& what) { return self->state.runs->run(what); },
      [=](const prepare_request& what) { return prepare(self, what); },
      [=](const explain_request& what) { return explain(self, what); },
      [=](const turn_came& what) { self->state.runs->enter(what); },
      [=](const stop_wanted& what) { what.act(); },
      [=](wake_atom) { self->state.due.wake(self); },
      [=](const link_lost& what) { link_was_lost(self, what); },
      [=](const part_lost& what) { part_was_lost(self, what); },
      [=](const tasks_known& what) { tasks_changed(self, what); },
      [=](const reset_request& what) { return reset(self, what); },
      [=](const end_fill& what) { return end_filling(self, what); },
      [=](list_devices_atom) { return list_devices(self); },
      [=](const survey_devices& what) { return ask_for_devices(self, what); },
      [=](known_devices_atom) { return known_devices(self); },
      [=](const list_state& what) { return list_state_of(self, what); },
      [=](const survey_state& what) { return ask_for_state(self, what); },
      [=](ask_positions& what) { return positions_of(self, what); },
  };
}

} // namespace

uint64_t next_local_step() {
  // Threads take them by the thousand, because a count that all of them write to holds them up.
  constexpr uint64_t at_once = 1024;
  static std::atomic<uint64_t> thousands{0};
  thread_local uint64_t next = 0;
  if (next % at_once == 0)
    next = thousands.fetch_add(1, std::memory_order_relaxed) * at_once + 1;
  return next++;
}

caf::actor spawn_master(caf::actor_system& system, master_options options) {
  return system.spawn(master_behavior, std::move(options));
}

} // namespace troupe
