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

// -- what sessions are asked ---------------------------------------------------------------------

// Errors of the host name the task that they come from already.
template <class Answer, class Promise>
void deliver(Promise promise, session_reply& from) {
  if (!from.outcome)
    promise.deliver(to_caf(from.outcome));
  else if (!from.problems.empty())
    promise.deliver(to_caf(as_error(from.problems)));
  else if (auto* what = std::get_if<Answer>(&from.what))
    promise.deliver(std::move(*what));
  else
    promise.deliver(to_caf(failure(error_kind::data_loss, "the host answers something else")));
}

// A host gives the tasks of a step that is stopped two seconds, and is given a little more.
constexpr std::chrono::milliseconds stop_margin{2500};

step_clock::time_point soon(remote_self self) {
  return self->clock().now() +
         std::min<std::chrono::milliseconds>(self->state.options.timeout, std::chrono::seconds{12});
}

template <class Question>
void ask_any(remote_self self, const Question& what, step_clock::time_point until,
             const std::function<void(session_reply&)>& then) {
  with_host(self, until, [=](status there) {
    if (!there) {
      session_reply none{.outcome = std::move(there)};
      return then(none);
    }
    ask(self, self->state.current, {.what = what}, until, [=](session_reply& done) {
      if (is_for_another(done))
        ask_any(self, what, until, then);
      else
        then(done);
    });
  });
}

template <class Answer, class Question>
caf::result<Answer> ask_for(remote_self self, Question what, step_clock::time_point until) {
  auto promise = self->make_response_promise<Answer>();
  ask_any(self, what, until, [=](session_reply& done) { deliver<Answer>(promise, done); });
  return promise;
}

// Of several tasks, some of which could not be asked.
template <class Survey, class Answer, class Question>
caf::result<Survey> survey(remote_self self, const Question& question) {
  auto promise = self->make_response_promise<Survey>();
  ask_any(self, question, soon(self), [=](session_reply& done) mutable {
    auto* joined = std::get_if<Answer>(&done.what);
    if (!done.outcome)
      promise.deliver(to_caf(done.outcome));
    else if (joined)
      promise.deliver(Survey{std::move(*joined), std::move(done.problems)});
    else
      promise.deliver(to_caf(failure(error_kind::data_loss, "the host answers something else")));
  });
  return promise;
}

caf::result<status> reset(remote_self self, const reset_request& what) {
  auto promise = self->make_response_promise<status>();
  ask_any(self, session_reset{what.container}, soon(self),
          [=](session_reply& done) mutable { promise.deliver(std::move(done.outcome)); });
  return promise;
}

// -- state of tasks that may be restarted --------------------------------------------------------

// While a session is at one host, that host notices what is lost, and says so.
void learn_holders(remote_state& state, const host_ptr& host, const session_reply& from) {
  for (const auto& one : from.held)
    if (auto& known = state.holders[one.task]; known.host <= host->number)
      known = {one.incarnation, host->number};
}

// The next host does not know what the session had before: that is found here, once.
status look_at_holders(remote_state& state, const host_ptr& host, const session_reply& from) {
  std::string first, names;
  size_t lost = 0;
  for (const auto& one : from.held) {
    auto known = state.holders.find(one.task);
    if (known == state.holders.end() || known->second.host == host->number ||
        known->second.incarnation == one.incarnation)
      continue;
    names += concat(lost++ == 0 ? "" : " and ", one.task);
    if (first.empty())
      first = one.task;
    note_loss(state, {one.task});
  }
  learn_holders(state, host, from);
  if (lost == 0)
    return {};
  return failure(error_kind::aborted, names, lost == 1 ? " was" : " were",
                 " restarted, and what this session had there (variables, queues, tables) is gone: "
                 "initialize or restore it")
      .on_task(first)
      .of_lost_state();
}

// The one error that says so may have come when nobody waited for it any more: the next step that
// uses the task is told.
void note_unsaid(remote_state& state, const status& answer) {
  const auto& of = answer.origin();
  auto is_known =
      std::ranges::find(state.unsaid, answer.message(), &status::message) != state.unsaid.end();
  if (!answer && of.state_lost && !is_known &&
      !state.unrestored.contains(of.task)) // else it is being restored
    state.unsaid.push_back(answer);
}

status take_unsaid(remote_state& state, const remote_step& step) {
  auto found = std::ranges::find_if(state.unsaid, [&](const status& why) {
    return std::ranges::any_of(step.uses,
                               [&](const auto& task) { return names_task(why.message(), task); });
  });
  if (found == state.unsaid.end())
    return {};
  auto why = std::move(*found);
  state.unsaid.erase(found);
  return why;
}

// What its host has told is not run on a task before it is restored; as a registrar does it.
status unrestored(remote_state& state, const remote_step& step) {
  if (state.unrestored.empty())
    return {};
  const auto& awaits = state.options.lost_state.awaits;
  for (const auto& task : step.uses) {
    auto it = state.unrestored.find(task);
    if (it == state.unrestored.end())
      continue;
    if (awaits && awaits(task))
      return failure(error_kind::aborted, task,
                     " was restarted, and what this session had there (variables, queues, tables) "
                     "is not restored yet")
          .on_task(task);
    state.unrestored.erase(it);
  }
  return {};
}

// -- what fills tasks ----------------------------------------------------------------------------

// Tasks let what another host had begun be filled by the next. A run without an answer may have
// begun it.
void note_fill(remote_state& state, uint64_t fill, const host_ptr& host,
               const session_reply& done) {
  auto begun = std::ranges::find(done.fills, fill_stage::by_asker, &task_fill::stage);
  if (fill == 0 || (begun == done.fills.end() && done.outcome.kind() != error_kind::unavailable &&
                    done.outcome.kind() != error_kind::deadline_exceeded))
    return;
  auto [it, first] = state.fills.try_emplace(fill, host->number);
  if (!first && it->second != host->number)
    it->second = 0;
}

caf::result<status> end_filling(remote_self self, const end_fill& what) {
  auto& state = self->state;
  auto found = state.fills.extract(what.fill);
  if (!found)
    return status{}; // no step of it has been sent
  auto moved = failure(error_kind::aborted,
                       "the session went to another host while it filled tasks: fill them again");
  auto host = state.current;
  if (!host || !host->is_open) // its connections have ended: others may fill them
    return what.done ? moved : status{};
  auto one = found.mapped() == host->number;
  auto promise = self->make_response_promise<status>();
  ask(self, host, {.what = session_fill_end{what.fill, what.done && one}}, soon(self),
      [=, wanted = what.done](session_reply& done) mutable {
        auto gone = !one || is_for_another(done);
        promise.deliver(wanted && gone ? std::move(moved) : std::move(done.outcome));
      });
  return promise;
}

// -- steps ---------------------------------------------------------------------------------------

// Who waits for a step to be prepared, and until when.
struct waits_for_step {
  step_clock::time_point deadline;
  bool retried;
  std::stop_token stop;
};

// Has a step prepared where the session is now.
void ensure(remote_self self, const remote_ptr& step, const waits_for_step& who,
            std::function<void(status)> then);

bool is_ready(const remote_state& state, const remote_step& step) {
  return state.current && state.current->is_open && step.host == state.current->number;
}

void forget_at_host(remote_self self, const remote_step& step) {
  if (is_ready(self->state, step))
    self->send(self->state.current->exchange,
               outgoing{session_request{.what = session_forget{step.handle}}});
}

void prepared(remote_self self, const remote_ptr& step, const host_ptr& host,
              const session_reply& done) {
  const auto* made = std::get_if<prepared_handle>(&done.what);
  auto outcome = done.outcome;
  // Else it was stopped, or another prepares it since, and who waits, waits for that.
  auto is_wanted = step->asking == done.request && !step->waiting.empty();
  if (step->asking == done.request)
    step->asked = nullptr;
  if (!is_wanted) { // it is known to nobody
    if (outcome && made)
      self->send(host->exchange, outgoing{session_request{.what = session_forget{made->handle}}});
    return note_unsaid(self->state, outcome);
  }
  if (outcome && made) {
    step->host = host->number;
    step->handle = made->handle;
    for (const auto& one : done.held)
      step->uses.insert(one.task);
    outcome = look_at_holders(self->state, host, done);
  } else if (outcome) {
    outcome = failure(error_kind::data_loss, "the host answers something else");
  }
  auto now = self->clock().now();
  for (auto& one : std::exchange(step->waiting, {})) {
    self->state.due.remove(one.due);
    // The session may have left that host meanwhile; and who has more time asks again.
    auto again = outcome.ok()
                     ? !is_ready(self->state, *step)
                     : is_for_another(done) ||
                           (outcome.kind() == error_kind::deadline_exceeded && one.deadline > now);
    if (again)
      ensure(self, step, {one.deadline, one.retried, one.stop}, std::move(one.then));
    else
      one.then(outcome);
  }
}

void wait_for(remote_self self, const remote_ptr& step, const waits_for_step& who,
              const std::function<void(status)>& then) {
  auto waits =
      step->waiting.insert(step->waiting.end(), {who.deadline, then, who.retried, who.stop});
  auto dismiss = [=](status why) {
    auto tell = std::move(waits->then);
    self->state.due.remove(waits->due);
    step->waiting.erase(waits);
    tell(std::move(why));
  };
  waits->due = self->state.due.add(self, later(who.deadline, host_margin / 2), [=] {
    dismiss(failure(error_kind::deadline_exceeded, "the step was not prepared in time"));
  });
  waits->watch = stop_request::watch(self, who.stop, [=] {
    if (step->waiting.size() == 1 && step->asked) { // nobody else wants it
      stop(self, step->asked, std::exchange(step->asking, 0));
      step->asked = nullptr; // who comes from now on has it asked anew
    }
    dismiss(stopped_by_caller());
  });
}

void ensure(remote_self self, const remote_ptr& step, const waits_for_step& who,
            std::function<void(status)> then) {
  auto go = [=](status there) {
    if (!there)
      return then(std::move(there));
    if (is_ready(self->state, *step))
      return then({});
    wait_for(self, step, who, then);
    auto host = self->state.current;
    if (std::exchange(step->asked, host) == host)
      return;
    auto what = step->what;
    what.retried = who.retried;
    step->asking = ask(self, host, {.what = std::move(what)}, who.deadline,
                       [=](session_reply& done) { prepared(self, step, host, done); });
  };
  with_host(self, who.deadline, std::move(go), who.stop);
}

caf::result<std::shared_ptr<prepared_step>> prepare(remote_self self, const prepare_request& what) {
  if (what.deadline <= self->clock().now())
    return to_caf(not_begun_in_time());
  auto made = to_wire(what, self->state.measured);
  if (!made)
    return to_caf(made.status());
  auto promise = self->make_response_promise<std::shared_ptr<prepared_step>>();
  auto step = std::make_shared<remote_step>();
  step->what = *std::move(made);
  step->needs = needed_feeds(what);
  auto then = [=, outside = what.outside](const status& ready) mutable {
    if (!ready) {
      promise.deliver(to_caf(ready));
      return;
    }
    // Its end tells this actor.
    participant part{.task = {}, .partitions = {}, .graphs = {}};
    part.worker = caf::actor_cast<caf::actor>(self);
    part.handle = self->state.next_number++;
    self->state.steps.emplace(part.handle, step);
    promise.deliver(
        std::make_shared<prepared_step>(std::vector<participant>{std::move(part)}, outside));
  };
  ensure(self, step, {what.deadline, what.retried, what.stop}, std::move(then));
  return promise;
}

caf::result<placement_report> explain(remote_self self, const explain_request& what) {
  if (what.what.deadline <= self->clock().now())
    return to_caf(not_begun_in_time());
  auto made = to_wire(what.what, self->state.measured);
  if (!made)
    return to_caf(made.status());
  made->explain = true;
  return ask_for<placement_report>(self, *std::move(made), what.what.deadline);
}

// As a master does it with the clocks of tasks.
void read_statistics_into(step_statistics& to, const session_ran& from, int64_t asked_ns) {
  to.step = from.step;
  auto by = ((asked_ns - from.begin_ns) + (steady_ns() - from.end_ns)) / 2;
  for (const auto& one : from.statistics)
    if (auto read = read_statistics(bytes_of(one))) {
      shift(*read, by);
      to.tasks.push_back(*std::move(read));
    }
}

// A run, until its caller is answered, which may be before the host answers.
struct remote_run {
  step_request request;
  remote_ptr step; // kept
  caf::typed_response_promise<step_outcome> reply;
  host_ptr host = {};   // that was asked last
  deadlines::key due{}; // of a host that does not say that it has stopped
  bool is_answered = false;
  std::shared_ptr<stop_request> stop = {};
};

using run_ptr = std::shared_ptr<remote_run>;

void finish(remote_self self, const run_ptr& run, step_outcome what) {
  if (std::exchange(run->is_answered, true))
    return;
  run->stop = nullptr;
  self->state.due.remove(run->due);
  run->reply.deliver(std::move(what));
}

void run_at_host(remote_self self, const run_ptr& run);
void stop_run(remote_self self, const run_ptr& run, uint64_t number);

void ran_at_host(remote_self self, const run_ptr& run, session_reply& done, int64_t asked_ns) {
  const auto& request = run->request;
  run->stop = nullptr;
  if (run->is_answered)
    note_unsaid(self->state, done.outcome);
  if (is_for_another(done))
    return request.stop.stop_requested() ? finish(self, run, {stopped_by_caller(), {}})
                                         : run_at_host(self, run);
  note_fill(self->state, request.fill, run->host, done);
  learn_holders(self->state, run->host, done);
  step_outcome ended{
      .outcome = std::move(done.outcome), .fetches = {}, .fills = std::move(done.fills)};
  auto* ran = std::get_if<session_ran>(&done.what);
  if (ended.outcome && (!ran || ran->fetches.size() != request.step->outside.fetches))
    ended.outcome = failure(error_kind::data_loss, "the host answers something else");
  if (ran && request.watch.times)
    read_statistics_into(ended.statistics, *ran, asked_ns);
  if (ended.outcome)
    ended.fetches = std::move(ran->fetches);
  finish(self, run, std::move(ended));
}

void run_at_host(remote_self self, const run_ptr& run) {
  const auto& request = run->request;
  auto go = [=, &request](status ready) {
    if (!ready)
      return finish(self, run, {std::move(ready), {}});
    run->host = self->state.current;
    if (request.knows != all_losses)
      if (auto may = unrestored(self->state, *run->step); !may)
        return finish(self, run, {std::move(may), {}});
    session_run asked{.handle = run->step->handle,
                      .times = request.watch.times,
                      .check_numerics = request.watch.check_numerics,
                      .fill = request.fill,
                      .knows = std::max(request.knows, run->host->knows),
                      .retried = request.retried};
    asked.feeds.resize(request.feeds.size());
    for (size_t i = 0; i < asked.feeds.size(); ++i)
      if (run->step->needs[i])
        asked.feeds[i] = request.feeds[i];
    auto number = ask(self, run->host, {.what = std::move(asked)}, request.deadline,
                      [=, asked_ns = steady_ns()](session_reply& done) {
                        ran_at_host(self, run, done, asked_ns);
                      });
    run->stop = stop_request::watch(self, request.stop, [=] { stop_run(self, run, number); });
  };
  ensure(self, run->step, {request.deadline, request.retried, request.stop}, std::move(go));
}

// Its caller wants it no more. The host answers soon; where it does not, nobody waits for it.
void stop_run(remote_self self, const run_ptr& run, uint64_t number) {
  stop(self, run->host, number);
  run->due = self->state.due.add(self, later(self->clock().now(), stop_margin), [=] {
    finish(self, run,
           {stopped_by_caller().followed_by(
                concat("; ", run->host->name, ", which hosts the session, has not said so yet")),
            {}});
  });
}

caf::result<step_outcome> run(remote_self self, step_request& what) {
  if (auto fits = what.step->outside.check(what.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  auto found = self->state.steps.find(what.step->participants.front().handle);
  if (found == self->state.steps.end())
    return step_outcome{failure(error_kind::internal, "the step is not this session's"), {}};
  if (what.stop.stop_requested())
    return step_outcome{stopped_by_caller(), {}};
  if (what.deadline <= self->clock().now())
    return step_outcome{not_begun_in_time(), {}};
  if (auto news = take_unsaid(self->state, *found->second); !news && what.knows != all_losses)
    return step_outcome{std::move(news), {}};
  auto run = std::make_shared<remote_run>(
      remote_run{std::move(what), found->second, self->make_response_promise<step_outcome>()});
  run_at_host(self, run);
  return run->reply;
}

void forget(remote_self self, uint64_t which) {
  auto& state = self->state;
  auto it = state.steps.find(which);
  if (it == state.steps.end())
    return;
  forget_at_host(self, *it->second);
  state.steps.erase(it);
}

caf::behavior remote_behavior(remote_self self, const std::vector<std::string>& addresses,
                              const client_options& options, const node_times* measured,
                              const membership_ways& ways, const std::string& cluster) {
  auto& state = self->state;
  state.addresses = addresses;
  state.options = options;
  state.measured = measured;
  state.ways = ways;
  state.cluster = cluster;
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& what) -> caf::error {
    close_hosts(self);
    return exception_as_error(what);
  });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    close_hosts(self);
    self->quit(what.reason);
  });
  return {
      [=](step_request& what) { return run(self, what); },
      [=](const prepare_request& what) { return prepare(self, what); },
      [=](const explain_request& what) { return explain(self, what); },
      [=](const reset_request& what) { return reset(self, what); },
      [=](const end_fill& what) { return end_filling(self, what); },
      [=](const list_state& what) {
        return ask_for<state_list>(self, session_state_of{what.task}, soon(self));
      },
      [=](const survey_state& wanted) {
        return survey<state_survey, state_list>(self, session_state_of{wanted.task});
      },
      [=](ask_positions& what) {
        return ask_for<std::vector<task_positions>>(
            self, session_positions{std::move(what.go_on_from), std::move(what.tasks)}, soon(self));
      },
      [=](list_devices_atom) {
        return ask_for<std::vector<device_info>>(self, session_devices{}, soon(self));
      },
      [=](const survey_devices&) {
        return survey<device_survey, std::vector<device_info>>(self, session_devices{});
      },
      [=](known_devices_atom) {
        return ask_for<std::vector<device_info>>(self, session_known_devices{}, soon(self));
      },
      [=](const forget_program& what) { forget(self, what.handle); },
      [=](const stop_wanted& what) { what.act(); },
      [=](dialed& what) { called(self, what); },
      [=](const peer_ready& what) { met(self, what); },
      [=](const peer_gone& what) { gone(self, what); },
      [=](incoming& what) { answered(self, what); },
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
                                        const membership_ways* ways) {
  if (!options.http.empty())
    return invalid(
        "http is served by local sessions; the task that hosts this one serves it itself "
        "(troupe worker --http)");
  if (ways)
    return system.spawn(remote::remote_behavior, hosts, options, measured, *ways, std::string{});
  std::string cluster;
  connection_trust trust{.tls = {}, .insecure = options.insecure, .on_warning = options.on_warning};
  if (!options.tls.none()) {
    cluster = cluster_of_certificate(options.tls.certificate);
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = cluster,
                                                 .self = {},
                                                 .on_warning = options.on_warning}));
  }
  return system.spawn(remote::remote_behavior, hosts, options, measured,
                      usual_ways(io_loop::make(), std::move(trust)), cluster);
}

} // namespace troupe
