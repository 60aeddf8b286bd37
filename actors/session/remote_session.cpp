#include "troupe/actors/session/remote_session.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/session/hosted_step.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/session/remote_hosts.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/serialization/reports/statistics.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace troupe::remote {
namespace {

// -- requests of the session's client ------------------------------------------------------------

// Errors of the host already name their task.
template <class Answer, class Promise>
void deliver(Promise promise, session_reply& reply) {
  if (!reply.outcome)
    promise.deliver(to_caf(reply.outcome));
  else if (!reply.problems.empty())
    promise.deliver(to_caf(as_error(reply.problems)));
  else if (auto* answer = std::get_if<Answer>(&reply.content))
    promise.deliver(std::move(*answer));
  else
    promise.deliver(
        to_caf(failure(error_kind::data_loss, "the answer of the host has an unexpected type")));
}

// A host waits two seconds for the tasks of a stopped step. The client waits a little longer.
constexpr std::chrono::milliseconds stop_margin{2500};

step_clock::time_point default_deadline(remote_self self) {
  return self->clock().now() +
         std::min<std::chrono::milliseconds>(self->state.options.timeout, std::chrono::seconds{12});
}

template <class Question>
void ask_any(remote_self self, const Question& question, step_clock::time_point until,
             const std::function<void(session_reply&)>& then) {
  with_host(self, until, [=](status found_host) {
    if (!found_host) {
      session_reply none{.outcome = std::move(found_host)};
      return then(none);
    }
    ask(self, self->state.current, {.content = question}, until, [=](session_reply& reply) {
      if (is_for_next_host(reply))
        ask_any(self, question, until, then);
      else
        then(reply);
    });
  });
}

template <class Answer, class Question>
caf::result<Answer> ask_for(remote_self self, Question question, step_clock::time_point until) {
  auto promise = self->make_response_promise<Answer>();
  ask_any(self, question, until, [=](session_reply& reply) { deliver<Answer>(promise, reply); });
  return promise;
}

// Asks for a survey of all tasks, some of which may not answer.
template <class Survey, class Answer, class Question>
caf::result<Survey> survey(remote_self self, const Question& question) {
  auto promise = self->make_response_promise<Survey>();
  ask_any(self, question, default_deadline(self), [=](session_reply& reply) mutable {
    auto* joined = std::get_if<Answer>(&reply.content);
    if (!reply.outcome)
      promise.deliver(to_caf(reply.outcome));
    else if (joined)
      promise.deliver(Survey{std::move(*joined), std::move(reply.problems)});
    else
      promise.deliver(
          to_caf(failure(error_kind::data_loss, "the answer of the host has an unexpected type")));
  });
  return promise;
}

caf::result<status> reset(remote_self self, const reset_request& request) {
  auto promise = self->make_response_promise<status>();
  ask_any(self, session_reset{request.container}, default_deadline(self),
          [=](session_reply& reply) mutable { promise.deliver(std::move(reply.outcome)); });
  return promise;
}

// -- state of tasks that may be restarted --------------------------------------------------------

// While a session stays at one host, that host notices and reports lost state.
void learn_holders(remote_state& state, const host_ptr& host, const session_reply& reply) {
  for (const auto& holder : reply.state_peers)
    if (auto& known = state.holders[holder.task]; known.host <= host->number)
      known = {holder.incarnation, host->number};
}

// A new host does not know the state that the session had before. So this function finds the losses
// between two hosts. Returns the error of the step that finds them.
status check_holders(remote_state& state, const host_ptr& host, const session_reply& reply) {
  std::string first, names;
  size_t lost = 0;
  for (const auto& holder : reply.state_peers) {
    auto known = state.holders.find(holder.task);
    if (known == state.holders.end() || known->second.host == host->number ||
        known->second.incarnation == holder.incarnation)
      continue;
    names += concat(lost++ == 0 ? "" : " and ", holder.task);
    if (first.empty())
      first = holder.task;
    note_loss(state, {holder.task});
  }
  learn_holders(state, host, reply);
  if (lost == 0)
    return {};
  return failure(
             error_kind::aborted, names, lost == 1 ? " was" : " were",
             " restarted, and the state of this session there (variables, queues, tables) is lost: "
             "initialize or restore it")
      .with_task(first)
      .with_lost_state();
}

// The host reports a loss in one error, which may come after its caller was answered. The next step
// that uses the task fails with it.
void note_undelivered_loss(remote_state& state, const status& answer) {
  const auto& origin = answer.origin();
  auto& undelivered = state.undelivered_losses;
  auto is_known =
      std::ranges::find(undelivered, answer.message(), &status::message) != undelivered.end();
  if (!answer && origin.state_lost && !is_known &&
      !state.unrestored.contains(origin.task)) // else the state is being restored
    undelivered.push_back(answer);
}

status take_undelivered_loss(remote_state& state, const remote_step& step) {
  auto loss = std::ranges::find_if(state.undelivered_losses, [&](const status& why) {
    return std::ranges::any_of(
        step.state_tasks, [&](const auto& task) { return mentions_task(why.message(), task); });
  });
  if (loss == state.undelivered_losses.end())
    return {};
  auto why = std::move(*loss);
  state.undelivered_losses.erase(loss);
  return why;
}

// Fails a step that uses a task whose reported loss is not restored yet, as a registrar does.
status check_restored(remote_state& state, const remote_step& step) {
  if (state.unrestored.empty())
    return {};
  const auto& awaits = state.options.lost_state.awaits_restore;
  for (const auto& task : step.state_tasks) {
    auto lost = state.unrestored.find(task);
    if (lost == state.unrestored.end())
      continue;
    if (awaits && awaits(task))
      return failure(
                 error_kind::aborted, task,
                 " was restarted, and the state of this session there (variables, queues, tables) "
                 "is not restored yet")
          .with_task(task);
    state.unrestored.erase(lost);
  }
  return {};
}

// -- initialization of tasks ---------------------------------------------------------------------

// Notes the host at which steps of an initialization run, because a task that one host has begun to
// initialize may be initialized by the next host. A run without an answer may have begun it.
void note_initialization(remote_state& state, uint64_t number, const host_ptr& host,
                         const session_reply& reply) {
  auto begun = std::ranges::find(reply.initializations, initialization_stage::by_requester,
                                 &initialization_report::stage);
  if (number == 0 ||
      (begun == reply.initializations.end() && reply.outcome.kind() != error_kind::unavailable &&
       reply.outcome.kind() != error_kind::deadline_exceeded))
    return;
  auto [noted, is_first] = state.initializations.try_emplace(number, host->number);
  if (!is_first && noted->second != host->number)
    noted->second = 0;
}

caf::result<status> handle_end_initialization(remote_self self, const end_initialization& request) {
  auto& state = self->state;
  auto noted = state.initializations.extract(request.initialization);
  if (!noted)
    return status{}; // no step of it has been sent
  auto moved = failure(error_kind::aborted,
                       "the session moved to another host while it initialized tasks: initialize "
                       "them again");
  auto host = state.current;
  if (!host || !host->is_open) // its connections have ended: other sessions may initialize them
    return request.done ? moved : status{};
  auto ran_at_this_host = noted.mapped() == host->number;
  auto promise = self->make_response_promise<status>();
  ask(self, host,
      {.content =
           session_initialization_end{request.initialization, request.done && ran_at_this_host}},
      default_deadline(self), [=, wanted = request.done](session_reply& reply) mutable {
        auto has_moved = !ran_at_this_host || is_for_next_host(reply);
        promise.deliver(wanted && has_moved ? std::move(moved) : std::move(reply.outcome));
      });
  return promise;
}

// -- steps ---------------------------------------------------------------------------------------

// A request that waits for a step to be prepared.
struct preparation_waiter {
  step_clock::time_point deadline;
  bool retried;
  std::stop_token stop;
};

// Prepares a step at the current host, unless it is prepared there.
void ensure(remote_self self, const remote_ptr& step, const preparation_waiter& waiter,
            std::function<void(status)> then);

bool is_ready(const remote_state& state, const remote_step& step) {
  return state.current && state.current->is_open && step.host == state.current->number;
}

void forget_at_host(remote_self self, const remote_step& step) {
  if (is_ready(self->state, step))
    self->send(self->state.current->exchange,
               outgoing{session_request{.content = session_release{step.handle}}});
}

void handle_prepared(remote_self self, const remote_ptr& step, const host_ptr& host,
                     const session_reply& reply) {
  const auto* handle = std::get_if<prepared_handle>(&reply.content);
  auto outcome = reply.outcome;
  // False if the request was stopped, or if the callers wait for a later request.
  auto is_wanted = step->preparing_request == reply.request && !step->waiting.empty();
  if (step->preparing_request == reply.request)
    step->preparing_host = nullptr;
  if (!is_wanted) { // no caller knows the handle
    if (outcome && handle)
      self->send(host->exchange,
                 outgoing{session_request{.content = session_release{handle->handle}}});
    return note_undelivered_loss(self->state, outcome);
  }
  if (outcome && handle) {
    step->host = host->number;
    step->handle = handle->handle;
    for (const auto& holder : reply.state_peers)
      step->state_tasks.insert(holder.task);
    outcome = check_holders(self->state, host, reply);
  } else if (outcome) {
    outcome = failure(error_kind::data_loss, "the answer of the host has an unexpected type");
  }
  auto now = self->clock().now();
  for (auto& waiting : std::exchange(step->waiting, {})) {
    self->state.due.remove(waiting.due);
    // The session may have left the host meanwhile. A caller with a later deadline asks again.
    auto is_repeated = outcome.ok() ? !is_ready(self->state, *step)
                                    : is_for_next_host(reply) ||
                                          (outcome.kind() == error_kind::deadline_exceeded &&
                                           waiting.deadline > now);
    if (is_repeated)
      ensure(self, step, {waiting.deadline, waiting.retried, waiting.stop},
             std::move(waiting.then));
    else
      waiting.then(outcome);
  }
}

void wait_for(remote_self self, const remote_ptr& step, const preparation_waiter& waiter,
              const std::function<void(status)>& then) {
  auto waiting = step->waiting.insert(step->waiting.end(),
                                      {waiter.deadline, then, waiter.retried, waiter.stop});
  auto dismiss = [=](status why) {
    auto call_back = std::move(waiting->then);
    self->state.due.remove(waiting->due);
    step->waiting.erase(waiting);
    call_back(std::move(why));
  };
  waiting->due = self->state.due.add(self, later(waiter.deadline, host_margin / 2), [=] {
    dismiss(failure(error_kind::deadline_exceeded, "the step was not prepared in time"));
  });
  waiting->watch = stop_request::watch(self, waiter.stop, [=] {
    // The last caller stops the request. A later caller sends another one.
    if (step->waiting.size() == 1 && step->preparing_host) {
      stop(self, step->preparing_host, std::exchange(step->preparing_request, 0));
      step->preparing_host = nullptr;
    }
    dismiss(stopped_by_caller());
  });
}

void ensure(remote_self self, const remote_ptr& step, const preparation_waiter& waiter,
            std::function<void(status)> then) {
  auto prepare_at_host = [=](status found_host) {
    if (!found_host)
      return then(std::move(found_host));
    if (is_ready(self->state, *step))
      return then({});
    wait_for(self, step, waiter, then);
    auto host = self->state.current;
    if (std::exchange(step->preparing_host, host) == host)
      return;
    auto request = step->request;
    request.retried = waiter.retried;
    step->preparing_request =
        ask(self, host, {.content = std::move(request)}, waiter.deadline,
            [=](session_reply& reply) { handle_prepared(self, step, host, reply); });
  };
  with_host(self, waiter.deadline, std::move(prepare_at_host), waiter.stop);
}

caf::result<std::shared_ptr<prepared_step>> prepare(remote_self self,
                                                    const prepare_request& request) {
  if (request.deadline <= self->clock().now())
    return to_caf(deadline_passed_before_start());
  auto wire_request = to_wire(request, self->state.measured);
  if (!wire_request)
    return to_caf(wire_request.status());
  auto promise = self->make_response_promise<std::shared_ptr<prepared_step>>();
  auto step = std::make_shared<remote_step>();
  step->request = *std::move(wire_request);
  step->needed_feeds = needed_feeds(request);
  auto then = [=, interface = request.interface](const status& ready) mutable {
    if (!ready) {
      promise.deliver(to_caf(ready));
      return;
    }
    // The destructor of the prepared step sends forget_program to this actor.
    participant part{.task = {}, .partitions = {}, .graphs = {}};
    part.worker = caf::actor_cast<caf::actor>(self);
    part.handle = self->state.next_number++;
    self->state.steps.emplace(part.handle, step);
    promise.deliver(
        std::make_shared<prepared_step>(std::vector<participant>{std::move(part)}, interface));
  };
  ensure(self, step, {request.deadline, request.retried, request.stop}, std::move(then));
  return promise;
}

caf::result<placement_report> explain(remote_self self, const explain_request& request) {
  if (request.request.deadline <= self->clock().now())
    return to_caf(deadline_passed_before_start());
  auto wire_request = to_wire(request.request, self->state.measured);
  if (!wire_request)
    return to_caf(wire_request.status());
  wire_request->explain = true;
  return ask_for<placement_report>(self, *std::move(wire_request), request.request.deadline);
}

// Shifts the times of the host's statistics to this process's clock, as a master does with tasks.
void add_statistics(step_statistics& statistics, const session_run_result& ran, int64_t asked_ns) {
  statistics.step = ran.step;
  auto offset_ns = ((asked_ns - ran.begin_ns) + (steady_ns() - ran.end_ns)) / 2;
  for (const auto& bytes : ran.statistics)
    if (auto task_times = read_statistics(bytes_of(bytes))) {
      shift(*task_times, offset_ns);
      statistics.tasks.push_back(*std::move(task_times));
    }
}

// A run, until the host has answered. Its caller may be answered before.
struct remote_run {
  step_request request;
  remote_ptr step; // kept prepared until the run ends
  caf::typed_response_promise<step_outcome> reply;
  host_ptr host = {};   // the last one that was asked
  deadlines::key due{}; // when the caller is answered though the host does not report the stop
  bool is_answered = false;
  std::shared_ptr<stop_request> stop = {};
};

using run_ptr = std::shared_ptr<remote_run>;

void finish(remote_self self, const run_ptr& run, step_outcome outcome) {
  if (std::exchange(run->is_answered, true))
    return;
  run->stop = nullptr;
  self->state.due.remove(run->due);
  run->reply.deliver(std::move(outcome));
}

void run_at_host(remote_self self, const run_ptr& run);
void stop_run(remote_self self, const run_ptr& run, uint64_t number);

void handle_run_reply(remote_self self, const run_ptr& run, session_reply& reply,
                      int64_t asked_ns) {
  const auto& request = run->request;
  run->stop = nullptr;
  if (run->is_answered)
    note_undelivered_loss(self->state, reply.outcome);
  if (is_for_next_host(reply))
    return request.stop.stop_requested() ? finish(self, run, {stopped_by_caller(), {}})
                                         : run_at_host(self, run);
  note_initialization(self->state, request.initialization, run->host, reply);
  learn_holders(self->state, run->host, reply);
  step_outcome ended{.outcome = std::move(reply.outcome),
                     .fetches = {},
                     .initialization_reports = std::move(reply.initializations)};
  auto* ran = std::get_if<session_run_result>(&reply.content);
  if (ended.outcome && (!ran || ran->fetches.size() != request.step->interface.fetches))
    ended.outcome = failure(error_kind::data_loss, "the answer of the host has an unexpected type");
  if (ran && request.watch.times)
    add_statistics(ended.statistics, *ran, asked_ns);
  if (ended.outcome)
    ended.fetches = std::move(ran->fetches);
  finish(self, run, std::move(ended));
}

void run_at_host(remote_self self, const run_ptr& run) {
  const auto& request = run->request;
  auto send_to_host = [=, &request](status ready) {
    if (!ready)
      return finish(self, run, {std::move(ready), {}});
    run->host = self->state.current;
    if (request.acknowledged_loss != all_losses)
      if (auto restored = check_restored(self->state, *run->step); !restored)
        return finish(self, run, {std::move(restored), {}});
    session_run wire_run{.handle = run->step->handle,
                         .wants_statistics = request.watch.times,
                         .check_numerics = request.watch.check_numerics,
                         .initialization = request.initialization,
                         .acknowledged_loss =
                             std::max(request.acknowledged_loss, run->host->acknowledged_loss),
                         .retried = request.retried};
    wire_run.feeds.resize(request.feeds.size());
    for (size_t i = 0; i < wire_run.feeds.size(); ++i)
      if (run->step->needed_feeds[i])
        wire_run.feeds[i] = request.feeds[i];
    auto number = ask(self, run->host, {.content = std::move(wire_run)}, request.deadline,
                      [=, asked_ns = steady_ns()](session_reply& reply) {
                        handle_run_reply(self, run, reply, asked_ns);
                      });
    run->stop = stop_request::watch(self, request.stop, [=] { stop_run(self, run, number); });
  };
  ensure(self, run->step, {request.deadline, request.retried, request.stop},
         std::move(send_to_host));
}

// The caller has requested a stop. If the host does not answer soon, the caller is answered
// without it.
void stop_run(remote_self self, const run_ptr& run, uint64_t number) {
  stop(self, run->host, number);
  run->due = self->state.due.add(self, later(self->clock().now(), stop_margin), [=] {
    finish(self, run,
           {stopped_by_caller().with_suffix(concat(
                "; ", run->host->name, ", which hosts the session, has not confirmed it yet")),
            {}});
  });
}

caf::result<step_outcome> run(remote_self self, step_request& request) {
  if (auto fits = request.step->interface.check(request.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  auto step = self->state.steps.find(request.step->participants.front().handle);
  if (step == self->state.steps.end())
    return step_outcome{failure(error_kind::internal, "the step is not this session's"), {}};
  if (request.stop.stop_requested())
    return step_outcome{stopped_by_caller(), {}};
  if (request.deadline <= self->clock().now())
    return step_outcome{deadline_passed_before_start(), {}};
  if (auto loss = take_undelivered_loss(self->state, *step->second);
      !loss && request.acknowledged_loss != all_losses)
    return step_outcome{std::move(loss), {}};
  auto run = std::make_shared<remote_run>(
      remote_run{std::move(request), step->second, self->make_response_promise<step_outcome>()});
  run_at_host(self, run);
  return run->reply;
}

void forget(remote_self self, uint64_t handle) {
  auto& state = self->state;
  auto step = state.steps.find(handle);
  if (step == state.steps.end())
    return;
  forget_at_host(self, *step->second);
  state.steps.erase(step);
}

caf::behavior remote_behavior(remote_self self, const std::vector<std::string>& addresses,
                              const client_options& options, const node_times* measured,
                              const membership_transport& transport, const std::string& cluster) {
  auto& state = self->state;
  state.addresses = addresses;
  state.options = options;
  state.measured = measured;
  state.transport = transport;
  state.cluster = cluster;
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& error) -> caf::error {
    close_hosts(self);
    return exception_as_error(error);
  });
  self->set_exit_handler([=](const caf::exit_msg& message) {
    close_hosts(self);
    self->quit(message.reason);
  });
  return {
      [=](step_request& request) { return run(self, request); },
      [=](const prepare_request& request) { return prepare(self, request); },
      [=](const explain_request& request) { return explain(self, request); },
      [=](const reset_request& request) { return reset(self, request); },
      [=](const end_initialization& request) { return handle_end_initialization(self, request); },
      [=](const list_state& request) {
        return ask_for<state_list>(self, session_state_of{request.task}, default_deadline(self));
      },
      [=](const survey_state& wanted) {
        return survey<state_survey, state_list>(self, session_state_of{wanted.task});
      },
      [=](ask_positions& question) {
        return ask_for<std::vector<task_positions>>(
            self, session_positions{std::move(question.restore_from), std::move(question.tasks)},
            default_deadline(self));
      },
      [=](list_devices_atom) {
        return ask_for<std::vector<device_info>>(self, session_devices{}, default_deadline(self));
      },
      [=](const survey_devices&) {
        return survey<device_survey, std::vector<device_info>>(self, session_devices{});
      },
      [=](known_devices_atom) {
        return ask_for<std::vector<device_info>>(self, session_known_devices{},
                                                 default_deadline(self));
      },
      [=](const forget_program& request) { forget(self, request.handle); },
      [=](const stop_message& request) { request.act(); },
      [=](dial_result& call) { handle_dial_result(self, call); },
      [=](const peer_ready& peer) { handle_peer_ready(self, peer); },
      [=](const peer_gone& peer) { handle_peer_gone(self, peer); },
      [=](incoming& delivery) { handle_reply(self, delivery); },
      [=](next_host_atom) { call_host(self); },
      [=](wake_atom) { self->state.due.wake(self); },
  };
}

} // namespace
} // namespace troupe::remote

namespace troupe {

result<caf::actor> spawn_remote_session(caf::actor_system& system,
                                        const std::vector<std::string>& hosts,
                                        const client_options& options, const node_times* measured,
                                        const membership_transport* transport) {
  if (!options.http.empty())
    return invalid(
        "http is served by local sessions; the task that hosts this one serves it itself "
        "(troupe worker --http)");
  if (transport)
    return system.spawn(remote::remote_behavior, hosts, options, measured, *transport,
                        std::string{});
  std::string cluster;
  connection_trust trust{.tls = {}, .insecure = options.insecure, .on_warning = options.on_warning};
  if (!options.tls.empty()) {
    cluster = cluster_of_certificate(options.tls.certificate);
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = cluster,
                                                 .self = {},
                                                 .on_warning = options.on_warning}));
  }
  auto loop = options.share_io ? io_loop::of(system) : io_loop::own(system);
  return system.spawn(remote::remote_behavior, hosts, options, measured,
                      socket_transport(std::move(loop), std::move(trust)), cluster);
}

} // namespace troupe
