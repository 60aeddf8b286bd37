#include "troupe/actors/master.hpp"

#include "troupe/actors/background_step.hpp"
#include "troupe/actors/deadlines.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/flight_report.hpp"
#include "troupe/actors/prepared_step.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <mutex>
#include <set>

namespace troupe {
namespace {

using step_ptr = std::shared_ptr<prepared_step>;

// Master -> itself: a step must be registered again before it runs. Answered by the step.
struct renew_request {
  step_ptr step;
  step_clock::time_point deadline;
};

// Master -> itself: the same, by one of those who need it. Answered by the step.
struct register_again {
  step_ptr step;
  step_clock::time_point deadline;
};

// Master -> itself: prepare a step, now that the tasks have said which devices they have. Answered
// by the step.
struct prepare_known {
  prepare_request what;
};

struct running_step;
using running_ptr = std::shared_ptr<running_step>;

// A step's gate -> master: it is that run's turn. No answer.
struct turn_came {
  running_ptr run;
};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::renew_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::register_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::turn_came)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::prepare_known)

namespace troupe {
namespace {

// How long the tasks of a failed step may take to stop before the client is answered anyway; once
// the deadline has passed, it has waited long enough.
constexpr std::chrono::seconds stop_patience{2};
constexpr std::chrono::milliseconds late_stop_patience{50};

// Somebody who waits for an answer that needs the answers of others.
class unanswered {
public:
  virtual ~unanswered() = default;
  virtual void fail(const status& why) = 0;
};

struct master_state {
  explicit master_state() {}
  static inline const char* name = "troupe.master";
  master_options options;
  deadlines due;
  std::set<running_ptr> running;
  std::vector<std::weak_ptr<unanswered>> open; // answered when the session closes, at the latest
  std::map<step_ptr, std::vector<caf::typed_response_promise<step_ptr>>> renewals; // and who waits
};

using master_self = caf::stateful_actor<master_state>*;

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

// -- preparing -----------------------------------------------------------------------------------

void add_costs(register_partitions& to, const node_times& measured) {
  if (measured.empty())
    return;
  for (const auto& part : to.partitions)
    for (const auto& node : part.nodes->nodes())
      if (auto known = measured.find(node->name()))
        to.costs.push_back({node->name(), known->mean_ns});
}

// A line for each op, once in a process: a graph has many nodes, and is prepared many times.
void tell_moved(const node& node) {
  static std::mutex mutex;
  static std::set<std::string_view> told;
  std::lock_guard guard{mutex};
  if (told.insert(node.op().name).second)
    std::clog << concat("troupe: ", node.description(),
                        " should run on a GPU, which cannot run it or "
                        "what shares its variable; it runs on the processor (said once for ",
                        node.op().name, ")\n");
}

result<step_ptr> compile(master_self self, const prepare_request& what) {
  const auto& options = self->state.options;
  auto& closed = *what.of;
  stop_signal stop{by_steady_clock(what.deadline, self->clock().now())};
  TROUPE_TRY(optimize(closed, options.passes, options.host.get(), &stop));
  if (stop.due())
    return failure(error_kind::deadline_exceeded, "the time was over while the step was compiled");
  // What was measured differs from run to run.
  placing how{.by_cost = options.programs.place_by_cost,
              .measured = options.programs.deterministic ? nullptr : options.measured};
  TROUPE_ASSIGN(auto placed, place(*closed.nodes, options.devices, how));
  for (auto* node : placed.moved)
    tell_moved(*node);
  TROUPE_ASSIGN(auto parts, cut(*closed.nodes, placed.chosen, options.devices));
  auto step = std::make_shared<prepared_step>(options.programs.max_concurrent);
  step->outside = what.outside;
  for (auto& part : parts) {
    TROUPE_TRY(optimize(part, options.passes));
    auto task = part.device.on_task();
    auto it = std::ranges::find(step->participants, task, &participant::task);
    if (it == step->participants.end()) {
      it = step->participants.insert(
          it, participant{.task = task,
                          .partitions = std::make_shared<register_partitions>(),
                          .feeds = {},
                          .worker = {},
                          .handle = 0});
      it->partitions->session = options.session;
      it->partitions->container = options.container;
      it->partitions->region_per_node = options.programs.region_per_node;
      it->partitions->deterministic = options.programs.deterministic;
      it->partitions->replay = options.programs.replay;
    }
    for (const auto& node : part.nodes->nodes())
      if (&node->op() == &internal_ops::feed)
        it->feeds.push_back(static_cast<uint32_t>(node->attr<int64_t>("index")));
    it->partitions->partitions.push_back(std::move(part));
  }
  if (options.measured)
    for (auto& one : step->participants)
      add_costs(*one.partitions, *options.measured);
  for (auto& one : step->participants) {
    std::ranges::sort(one.feeds);
    one.feeds.erase(std::ranges::unique(one.feeds).begin(), one.feeds.end());
  }
  return step;
}

// Collects the answers of several tasks; the first error wins.
template <class Result>
class gathering final : public unanswered {
public:
  gathering(size_t n, caf::typed_response_promise<Result> p) : missing_(n), reply_(std::move(p)) {}

  // One has answered; says whether it was the last, and nothing has failed.
  bool complete() { return --missing_ == 0 && !std::exchange(answered_, true); }
  bool answered() const noexcept { return answered_; } ///< with an error, or by the last
  void deliver(Result all) { reply_.deliver(std::move(all)); }
  void fail(const status& why) override {
    if (!std::exchange(answered_, true))
      reply_.deliver(to_caf(why));
  }

private:
  size_t missing_;
  bool answered_ = false;
  caf::typed_response_promise<Result> reply_;
};

template <class Result>
std::shared_ptr<gathering<Result>> gather(master_self self, size_t answers,
                                          caf::typed_response_promise<Result> reply) {
  auto made = std::make_shared<gathering<Result>>(answers, std::move(reply));
  auto& open = self->state.open;
  std::erase_if(open, [](const auto& one) { return one.expired(); });
  open.push_back(made);
  return made;
}

// Finds the worker of a task: in this process, or through the membership.
template <class OnWorker, class OnError>
void with_worker(master_self self, const task_name& task, step_clock::time_point deadline,
                 OnWorker on_worker, OnError on_error) {
  const auto& options = self->state.options;
  if (auto it = options.workers.find(task); it != options.workers.end())
    return on_worker(it->second);
  if (!options.membership)
    return on_error(failure(error_kind::not_found, "there is no task ", task));
  self->request(options.membership, until(self, deadline) + std::chrono::seconds{1},
                connect_request{task, deadline})
      .then([=](const peer_link& link) { on_worker(link.exchange); },
            [=](const caf::error& why) { on_error(from_caf(why)); });
}

// Registers the parts of a step with their workers and answers the promise with the step.
void register_all(master_self self, const step_ptr& step, step_clock::time_point deadline,
                  const std::shared_ptr<gathering<step_ptr>>& answers) {
  for (size_t i = 0; i < step->participants.size(); ++i) {
    auto task = step->participants[i].task;
    with_worker(
        self, task, deadline,
        [=](const caf::actor& worker) {
          // Without a time-out of CAF's: a task that answers too late is told to forget the
          // program.
          auto due = self->state.due.add(self, deadline, [=] {
            answers->fail(
                failure(error_kind::deadline_exceeded, task, " did not register the step in time"));
          });
          self->request(worker, caf::infinite, step->participants[i].partitions)
              .then(
                  [=](const registered& done) {
                    self->state.due.remove(due);
                    if (answers->answered()) // too late
                      return caf::anon_send(worker, forget_program{done.handle});
                    auto& one = step->participants[i];
                    one.worker = worker;
                    one.handle = done.handle;
                    if (done.program && step->participants.size() == 1) {
                      step->local = done.program;
                      one.partitions.reset();
                    }
                    if (answers->complete()) {
                      step->stale = false;
                      answers->deliver(step);
                    }
                  },
                  [=](const caf::error& why) {
                    self->state.due.remove(due);
                    answers->fail(from_caf(why));
                  });
        },
        [=](const status& why) { answers->fail(why); });
  }
}

caf::result<step_ptr> register_step(master_self self, const step_ptr& step,
                                    step_clock::time_point deadline) {
  auto promise = self->make_response_promise<step_ptr>();
  register_all(self, step, deadline, gather(self, step->participants.size(), promise));
  return promise;
}

caf::result<step_ptr> prepare_now(master_self self, const prepare_request& what) {
  auto compiled = compile(self, what);
  if (!compiled)
    return to_caf(compiled.status());
  return register_step(self, *compiled, what.deadline);
}

// A remote task is known to have one processor; what else it has is asked when somebody wants it.
bool asks_for_more(const graph& of, const device_list& known) {
  return std::ranges::any_of(of.nodes(), [&](const auto& at) {
    auto asked = device_name::parse(at->device());
    return asked && (kind_of(*asked) == device_kind::gpu || asked->ordinal > 0) &&
           std::ranges::none_of(known, [&](const auto& one) { return asked->matches(one); });
  });
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
    known.insert(last.base(), *name);
  }
}

caf::result<step_ptr> prepare(master_self self, const prepare_request& what) {
  const auto& options = self->state.options;
  if (!options.membership || !asks_for_more(*what.of->nodes, options.devices))
    return prepare_now(self, what);
  auto promise = self->make_response_promise<step_ptr>();
  auto me = caf::actor_cast<caf::actor>(self);
  auto fail = [=](const caf::error& why) mutable { promise.deliver(why); };
  self->request(me, until(self, what.deadline), list_devices_atom::value)
      .then(
          [=](const std::vector<device_info>& all) mutable {
            learn(self->state.options.devices, all);
            self->request(me, until(self, what.deadline), prepare_known{what})
                .then([=](const step_ptr& step) mutable { promise.deliver(step); }, fail);
          },
          fail);
  return promise;
}

// -- running -------------------------------------------------------------------------------------

// A step that no thread of this process drives, as its master sees it.
struct running_step final : step_gate::waiter, std::enable_shared_from_this<running_step> {
  running_step(step_request r, caf::typed_response_promise<step_outcome> p, master_self self)
      : request(std::move(r)), reply(std::move(p)), master(caf::actor_cast<caf::actor_addr>(self)) {
  }
  void let_in() override {
    if (auto to = caf::actor_cast<caf::actor>(master))
      caf::anon_send(to, turn_came{shared_from_this()});
  }
  step_request request;
  caf::typed_response_promise<step_outcome> reply;
  uint64_t id = 0;
  deadlines::key due;
  std::vector<bool> answered;    // per participant
  std::vector<int64_t> asked_ns; // per participant
  std::vector<tensor> fetches;
  step_statistics statistics;
  status error;
  caf::actor_addr master;
  bool in_line = false; // at the gate
  bool done = false;

  bool all_answered() const { return std::ranges::find(answered, false) == answered.end(); }
};

void finish(master_self self, const running_ptr& run) {
  if (std::exchange(run->done, true))
    return;
  self->state.running.erase(run);
  auto& gate = run->request.step->gate;
  if (!run->in_line || !gate.withdraw(*run))
    gate.leave();
  if (run->error.ok())
    run->reply.deliver(step_outcome{{}, std::move(run->fetches), std::move(run->statistics)});
  else
    run->reply.deliver(step_outcome{run->error, {}, std::move(run->statistics)});
}

// Keeps the first cause and stops the others; the client is answered when they have stopped.
void fail(master_self self, const running_ptr& run, status why) {
  if (!run->error.ok() || run->done)
    return;
  if (!run->request.step->local &&
      (why.kind() == error_kind::unavailable || why.kind() == error_kind::aborted))
    run->request.step->stale = true;
  run->error = std::move(why);
  self->state.due.remove(run->due);
  const auto& participants = run->request.step->participants;
  for (size_t i = 0; i < participants.size(); ++i)
    if (!run->answered[i])
      self->send(participants[i].worker,
                 outgoing{cancel_step{run->id, without_reports(run->error)}});
  auto now = self->clock().now();
  auto latest = std::max(run->request.deadline, now);
  latest =
      std::min(now + stop_patience, std::min(latest, now + stop_patience) + late_stop_patience);
  run->due = self->state.due.add(self, latest, [=] { finish(self, run); });
}

// A task's clock counts from another moment than ours. It began the step after we had asked, and
// ended it before we heard: what lies between is split evenly, as NTP does (RFC 5905).
void add_statistics(master_self self, running_step& run, size_t from, task_statistics&& what) {
  if (!what.subjects)
    return;
  if (!self->state.options.workers.contains(run.request.step->participants[from].task))
    shift(what, ((run.asked_ns[from] - what.begin_ns) + (steady_ns() - what.end_ns)) / 2);
  run.statistics.tasks.push_back(std::move(what));
}

void answer_came(master_self self, const running_ptr& run, size_t from, step_result& what) {
  run->answered[from] = true;
  add_statistics(self, *run, from, std::move(what.statistics));
  if (!what.outcome && !run->error.ok())
    add_reports(run->error, what.outcome);
  else if (!what.outcome)
    fail(self, run, std::move(what.outcome));
  for (auto& one : what.fetches)
    if (one.index < run->fetches.size())
      run->fetches[one.index] = std::move(one.value);
  if (run->all_answered()) {
    self->state.due.remove(run->due);
    finish(self, run);
  }
}

std::string silent_tasks(const running_step& run) {
  std::string names;
  for (size_t i = 0; i < run.answered.size(); ++i)
    if (!run.answered[i])
      names += concat(names.empty() ? "" : ", ", run.request.step->participants[i].task);
  return names;
}

std::string reports_of_silence(const running_step& run) {
  std::string lines;
  for (size_t i = 0; i < run.answered.size(); ++i)
    if (!run.answered[i])
      lines += concat("\n    the answer of ", run.request.step->participants[i].task, ", for ",
                      readable_time(steady_ns() - run.asked_ns[i]));
  return lines.empty() ? lines : "\n  the client waited for" + lines;
}

void start(master_self self, const running_ptr& run) {
  auto& step = *run->request.step;
  run->id = next_step_id(self->state.options.session);
  run->answered.assign(step.participants.size(), false);
  run->asked_ns.assign(step.participants.size(), steady_ns());
  run->statistics.step = run->id;
  run->fetches.resize(step.outside.fetches);
  // The client's own time-out speaks first; tasks get a little longer, for when it is gone.
  for (size_t i = 0; i < step.participants.size(); ++i) {
    const auto& one = step.participants[i];
    run_request what{one.handle, run->id, run->request.deadline, {}, run->request.watch};
    for (auto index : one.feeds)
      what.feeds.push_back({index, run->request.feeds[index]});
    // Without a time-out of CAF's, which it would keep until the deadline though the answer has
    // come. Workers and exchanges always answer; where they do not in time, `due` does.
    self->request(one.worker, caf::infinite, std::move(what))
        .then(
            [=](step_result& done) { answer_came(self, run, i, done); },
            [=](const caf::error& why) {
              step_result lost{naming(run->request.step->participants[i].task, from_caf(why)), {}};
              answer_came(self, run, i, lost);
            });
  }
  run->due = self->state.due.add(self, run->request.deadline, [=] {
    fail(self, run,
         failure(error_kind::deadline_exceeded, "step ", run->id,
                 " was not done in time; no answer from ", silent_tasks(*run),
                 reports_of_silence(*run)));
  });
}

// The run is inside the gate.
void start_or_renew(master_self self, const running_ptr& run) {
  const auto& what = run->request;
  if (!what.step->stale)
    return start(self, run);
  // A lost task may be back: register everything again, everywhere, and go on.
  self->request(caf::actor_cast<caf::actor>(self), until(self, what.deadline),
                renew_request{what.step, what.deadline})
      .then([=](const step_ptr&) { start(self, run); },
            [=](const caf::error& why) {
              run->error = from_caf(why);
              finish(self, run);
            });
}

caf::result<step_outcome> run_step_request(master_self self, const step_request& what) {
  if (auto fits = what.step->outside.check(what.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  auto promise = self->make_response_promise<step_outcome>();
  auto run = std::make_shared<running_step>(what, promise, self);
  self->state.running.insert(run);
  if (what.step->gate.enter(*run)) {
    start_or_renew(self, run);
    return promise;
  }
  run->in_line = true;
  run->due = self->state.due.add(self, what.deadline, [=] {
    run->error = waited_in_line(run->request.step->gate);
    finish(self, run);
  });
  return promise;
}

void enter(master_self self, const running_ptr& run) {
  if (run->done)
    return; // it has left again
  run->in_line = false;
  self->state.due.remove(run->due);
  start_or_renew(self, run);
}

// Several runs may find the same step stale; it is registered again once for all of them.
caf::result<step_ptr> renew(master_self self, const step_ptr& step,
                            step_clock::time_point deadline) {
  auto promise = self->make_response_promise<step_ptr>();
  auto& waiting = self->state.renewals[step];
  waiting.push_back(promise);
  if (waiting.size() > 1)
    return promise;
  for (const auto& one : step->participants)
    self->send(one.worker, forget_program{one.handle});
  auto settle = [=](auto answer) {
    auto done = self->state.renewals.extract(step);
    for (auto& one : done.mapped())
      one.deliver(answer);
  };
  self->request(caf::actor_cast<caf::actor>(self), until(self, deadline) + stop_patience,
                register_again{step, deadline})
      .then([=](const step_ptr& fresh) { settle(fresh); },
            [=](const caf::error& why) { settle(why); });
  return promise;
}

// -- the rest ------------------------------------------------------------------------------------

// Asks every task; answers with the first error or when all are done.
template <class Answer, class Merge, class... Question>
caf::result<Answer> ask_all(master_self self, Merge merge, Question... question) {
  auto patience = self->state.options.patience;
  std::vector<task_name> tasks;
  for (const auto& one : self->state.options.devices)
    if (std::ranges::find(tasks, one.on_task()) == tasks.end())
      tasks.push_back(one.on_task());
  auto promise = self->make_response_promise<Answer>();
  auto answers = gather(self, tasks.size(), promise);
  auto all = std::make_shared<Answer>();
  for (const auto& task : tasks)
    with_worker(
        self, task, self->clock().now() + patience,
        [=](const caf::actor& worker) {
          self->request(worker, patience, question...)
              .then(
                  [=](const Answer& one) {
                    merge(*all, one);
                    if (answers->complete())
                      answers->deliver(*all);
                  },
                  [=](const caf::error& why) { answers->fail(naming(task, from_caf(why))); });
        },
        [=](const status& why) { answers->fail(why); });
  return promise;
}

caf::behavior master_behavior(master_self self, master_options options) {
  self->state.options = std::move(options);
  self->set_default_handler(caf::drop);
  self->set_exit_handler([=](const caf::exit_msg& what) {
    auto closed = failure(error_kind::cancelled, "the session is closed");
    for (const auto& run : std::set{self->state.running}) {
      run->error = closed;
      finish(self, run);
    }
    for (const auto& one : std::exchange(self->state.open, {}))
      if (auto waits = one.lock())
        waits->fail(closed);
    self->quit(what.reason);
  });
  return {
      [=](const step_request& what) { return run_step_request(self, what); },
      [=](const prepare_request& what) { return prepare(self, what); },
      [=](const prepare_known& what) { return prepare_now(self, what.what); },
      [=](const turn_came& what) { enter(self, what.run); },
      [=](const renew_request& what) { return renew(self, what.step, what.deadline); },
      [=](const register_again& what) { return register_step(self, what.step, what.deadline); },
      [=](wake_atom) { self->state.due.wake(self); },
      [=](const reset_request& what) {
        return ask_all<status>(
            self,
            [](status& all, const status& one) {
              if (all.ok())
                all = one;
            },
            what);
      },
      [=](list_devices_atom) {
        return ask_all<std::vector<device_info>>(
            self,
            [](std::vector<device_info>& all, const std::vector<device_info>& some) {
              all.insert(all.end(), some.begin(), some.end());
            },
            list_devices_atom::value);
      },
  };
}

} // namespace

uint64_t next_step_id(uint64_t session) {
  // 24 bits of the session, 40 of a count: 12 days of a million steps a second.
  // Threads take them by the thousand, because a count that all of them write to holds them up.
  constexpr uint64_t at_once = 1024, count_bits = (uint64_t{1} << 40) - 1;
  static std::atomic<uint64_t> thousands{0};
  thread_local uint64_t next = 0;
  if (next % at_once == 0)
    next = thousands.fetch_add(1, std::memory_order_relaxed) * at_once + 1;
  return (session & ~count_bits) | (next++ & count_bits);
}

caf::actor spawn_master(caf::actor_system& system, master_options options) {
  return system.spawn(master_behavior, std::move(options));
}

} // namespace troupe
