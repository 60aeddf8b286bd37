#include "troupe/actors/hosting/session_host.hpp"

#include "troupe/actors/base/background_executor.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/hosting/hosted_request.hpp"
#include "troupe/actors/session/hosted_step.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
#include "troupe/serialization/reports/statistics.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe::hosting {
namespace {

// A deadline that is more than a century away counts as none.
constexpr uint64_t max_deadline_ms = uint64_t{100} * 365 * 24 * 3600 * 1000;
// The warnings of a session between two answers, and the bytes of one warning.
constexpr size_t max_warnings = 16, max_warning_bytes = 4096;
// If no running step ends in this time, one more queued step is admitted.
constexpr std::chrono::milliseconds patience_in_queue{50};

// -- answers -------------------------------------------------------------------------------------

// Calls a function. Answers the request with an error if the function throws, so that the sessions
// of other clients continue.
template <class Act>
void call_guarded(const request_ptr& request, Act act) {
  if (auto outcome = guarded("serving a client", act); !outcome)
    (void)guarded("serving a client", [&] { request->answer(std::move(outcome)); }).ok();
}

template <class Question, class Answer>
void ask_session(host_self self, const request_ptr& request, Question question,
                 std::function<void(Answer&)> then) {
  // No timeout is needed: the master answers in time.
  self->request(request->session().session, caf::infinite, std::move(question))
      .then([=](Answer& answer) { call_guarded(request, [&] { then(answer); }); },
            [=](const caf::error& why) {
              call_guarded(request, [&] { request->answer(from_caf(why)); });
            });
}

// Asks the session, and sends its answer to the client unchanged.
template <class Answer, class Question>
void forward(host_self self, const request_ptr& request, Question question) {
  ask_session<Question, Answer>(self, request, std::move(question), [=](Answer& answer) {
    if constexpr (std::is_same_v<Answer, status>)
      request->answer(std::move(answer));
    else if constexpr (std::is_same_v<Answer, device_survey>)
      request->answer(std::move(answer.devices), std::move(answer.problems));
    else if constexpr (std::is_same_v<Answer, state_survey>)
      request->answer(std::move(answer.state), std::move(answer.problems));
    else
      request->answer({}, std::move(answer));
  });
}

// -- sessions ------------------------------------------------------------------------------------

client_options options_of(const client_options& defaults, const session_open& request,
                          const std::shared_ptr<session_news>& news) {
  auto options = defaults;
  options.container = request.container;
  options.passes = request.passes;
  options.programs = {.region_per_node = request.region_per_node,
                      .max_concurrent_steps = request.max_concurrent,
                      .deterministic = request.deterministic,
                      .replay = request.replay,
                      .place_by_cost = request.place_by_cost,
                      .transfer_precision = request.transfer_precision,
                      .placement = request.placement};
  options.session = random_id();
  options.on_warning = [news](const std::string& text) {
    std::lock_guard guard{news->mutex};
    if (news->warnings.size() < max_warnings)
      news->warnings.push_back(text.substr(0, max_warning_bytes));
  };
  if (request.restores)
    options.lost_state = {.on_state_lost =
                              [news](const state_loss& loss) {
                                std::lock_guard guard{news->mutex};
                                news->losses.push_back(loss);
                                return true;
                              },
                          // Each request says which losses its client knows.
                          .awaits_restore = [](const std::string&) { return true; }};
  return options;
}

result<session_ptr> open(host_self self, const incoming& from, const session_open& request) {
  auto& state = self->state;
  const auto& options = *state.options;
  if (state.sessions.contains(from.from.address()))
    return failure(error_kind::failed_precondition, "this connection has a session already");
  TROUPE_TRY(options.server->refusal());
  if (options.limits.sessions == 0)
    return failure(error_kind::failed_precondition, state.task, " hosts no sessions");
  if (state.sessions.size() >= options.limits.sessions)
    return failure(error_kind::resource_exhausted, state.task, " hosts ", state.sessions.size(),
                   " sessions, which is the limit");
  auto session = std::make_shared<hosted_session>();
  session->owner = from.owner;
  session->exchange = from.from;
  session->account = state.accounts.of(from.owner, options.limits, state.next_number);
  auto& account = *session->account;
  if (account.sessions >= account.limits.sessions_per_client)
    return account.limit_error(account.sessions, "sessions", state.task);
  auto session_options = options_of(options.session, request, session->news);
  TROUPE_ASSIGN(session->session, state.make_session(self->system(), session_options));
  session->listed = std::make_shared<listed_session>(from.owner->peer, session_options.session);
  options.server->hosted().add(session->listed);
  ++account.sessions;
  state.sessions.emplace(from.from.address(), session);
  self->monitor(from.from);
  options.server->log().write(log_level::info, "session_opened", {{"client", from.owner->peer}});
  return session;
}

void close(host_self self, const session_ptr& session) {
  *session->closed = true;
  self->send_exit(session->session, caf::exit_reason::user_shutdown);
  --session->account->sessions;
  session->account->programs -= session->steps.size();
  for (const auto& [handle, step] : session->steps)
    session->account->bytes -= step.bytes;
  session->steps.clear();
  auto& server = *self->state.options->server;
  server.hosted().remove(*session->listed);
  for (const auto& [number, waiting] : session->queued) {
    self->state.admission->withdraw(session->account->number, number);
    self->state.due.remove(waiting.due);
  }
  session->queued.clear();
  server.log().write(log_level::info, "session_closed", {{"client", session->owner->peer}});
}

// The connection has ended: ends its session and the session's requests.
void lose(host_self self, const caf::actor_addr& exchange) {
  auto& sessions = self->state.sessions;
  if (auto entry = sessions.find(exchange); entry != sessions.end()) {
    auto session = std::move(entry->second);
    sessions.erase(entry);
    close(self, session);
  }
}

void close_all(host_self self) {
  for (const auto& [exchange, session] : std::exchange(self->state.sessions, {}))
    close(self, session);
  self->send_exit(self->state.background, caf::exit_reason::user_shutdown);
}

// -- requests ------------------------------------------------------------------------------------

using deadline = step_clock::time_point;

void keep(const request_ptr& request, const std::shared_ptr<prepared_step>& step, uint64_t bytes) {
  auto& session = request->session();
  if (*session.closed)
    return;
  auto handle = session.next_handle++;
  session.steps.emplace(handle, stored_step{step, bytes});
  ++session.account->programs;
  ++session.listed->programs;
  session.account->bytes += bytes;
  session.listed->bytes += bytes;
  // No run of the step has begun, so the master does not change it now.
  request->answer({}, prepared_handle{handle}, step->state_holders());
}

void compile(host_self self, const request_ptr& request, bool explain, prepare_request to_prepare,
             uint64_t bytes, const std::shared_ptr<void>& counted) {
  if (explain)
    return ask_session<explain_request, placement_report>(
        self, request, explain_request{std::move(to_prepare)}, [=](placement_report& report) {
          (void)counted; // counts as a program until it is answered
          request->answer({}, std::move(report));
        });
  ask_session<prepare_request, std::shared_ptr<prepared_step>>(
      self, request, std::move(to_prepare), [=](std::shared_ptr<prepared_step>& step) {
        (void)counted;
        keep(request, step, bytes);
      });
}

void prepare(host_self self, const request_ptr& request, session_prepare& received,
             deadline until) {
  auto& session = request->session();
  auto& account = *session.account;
  if (account.programs >= account.limits.programs)
    return request->answer(
        account.limit_error(account.programs, "kinds of steps", self->state.task));
  auto bytes = held_bytes(received);
  if (auto fits = account.check_bytes(bytes, self->state.task); !fits)
    return request->answer(std::move(fits));
  request->hold(bytes);
  ++account.programs; // until it is compiled; then keep() counts it
  std::shared_ptr<void> counted{nullptr,
                                [charged = session.account](void*) { --charged->programs; }};
  auto client = account.number, number = self->state.next_number++;
  auto explain = received.explain;
  auto graph_to_read = std::make_shared<session_prepare>(std::move(received));
  auto read_graph = [=, closed = session.closed, ops = self->state.options->session.ops] {
    auto late = self->clock().now() >= until;
    run_in_background(
        self, self->state.background,
        [=]() -> result<prepare_request> {
          if (late)
            return failure(error_kind::deadline_exceeded, "the graph was not read in time");
          if (*closed)
            return failure(error_kind::cancelled, "the client is gone");
          return from_wire(*graph_to_read, *ops, until);
        },
        [=](result<prepare_request> to_prepare) {
          self->state.reads.leave(client);
          call_guarded(request, [&] {
            if (!to_prepare)
              return request->answer(to_prepare.status());
            to_prepare->stop = request->stop();
            compile(self, request, explain, *std::move(to_prepare), bytes, counted);
          });
        });
  };
  self->state.reads.enter(client, number, std::move(read_graph));
}

session_run_result to_run_result(step_outcome& done, int64_t begin_ns, bool times) {
  session_run_result answer{.fetches = std::move(done.fetches), .step = done.statistics.step};
  if (!times)
    return answer;
  for (const auto& task_times : done.statistics.tasks)
    if (auto bytes = write_statistics(task_times)) // the step succeeds without them
      answer.statistics.push_back(*std::move(bytes));
  answer.begin_ns = begin_ns;
  answer.end_ns = steady_ns();
  return answer;
}

// All running steps may wait for values that only a queued step produces. If no step has ended
// within patience_in_queue, one more is admitted.
void watch_queue(host_self self) {
  auto& state = self->state;
  if (state.admission->waiting() == 0 || std::exchange(state.watches_queue, true))
    return;
  state.due.add(self, self->clock().now() + patience_in_queue, [=, left = state.admission->left()] {
    auto& current = self->state;
    current.watches_queue = false;
    if (current.admission->left() == left)
      current.admission->admit_one_more();
    watch_queue(self);
  });
}

// Begins a step that was admitted. A step that fails at once leaves by a timer, so that a long
// queue of failing steps does not recurse deeply.
void begin(host_self self, const request_ptr& request, step_request& step, bool has_waited) {
  auto& session = request->session();
  auto client = session.account->number;
  auto leave_soon = [=] {
    self->state.due.add(self, self->clock().now(), [=] { self->state.admission->leave(client); });
  };
  if (auto accepted = self->state.options->server->refusal(); has_waited && !accepted) {
    leave_soon();
    return request->send_elsewhere(std::move(accepted));
  }
  auto times = step.watch.times;
  auto listed = session.listed;
  ++listed->running;
  auto end = [=, begin_ns = steady_ns()](status outcome, step_outcome* done) {
    call_guarded(request, [&] {
      if (done)
        request->answer(std::move(outcome), to_run_result(*done, begin_ns, times),
                        std::move(done->state_tasks), std::move(done->initialization_reports));
      else
        request->answer(std::move(outcome));
    });
    --listed->running;
    self->state.admission->leave(client);
  };
  auto sent = guarded("serving a client", [&] {
    self->request(session.session, caf::infinite, std::move(step))
        .then([=](step_outcome& done) { end(std::move(done.outcome), &done); },
              [=](const caf::error& why) { end(from_caf(why), nullptr); });
  });
  if (!sent) {
    --listed->running;
    leave_soon();
    request->answer(std::move(sent));
  }
}

void run(host_self self, const request_ptr& request, session_run& received, deadline until) {
  auto& session = request->session();
  auto stored = session.steps.find(received.handle);
  if (stored == session.steps.end())
    return request->refuse(failure(error_kind::not_found, "the session has no step ",
                                   received.handle, " on ", self->state.task));
  uint64_t bytes = 0;
  for (const auto& feed : received.feeds)
    bytes += held_bytes(feed);
  if (auto fits = session.account->check_bytes(bytes, self->state.task); !fits)
    return request->refuse(std::move(fits));
  request->hold(bytes);
  auto step = std::make_shared<step_request>(
      step_request{stored->second.step,
                   std::move(received.feeds),
                   until,
                   {.times = received.wants_statistics, .check_numerics = received.check_numerics},
                   received.acknowledged_loss,
                   received.initialization,
                   received.retried,
                   request->stop()});
  if (step->stop.stop_requested())
    return request->refuse(stopped_by_caller());
  auto client = session.account->number;
  auto number = self->state.next_number++;
  auto on_admission = [=] {
    auto& admitted = request->session();
    auto waited = admitted.queued.find(number);
    auto has_waited = waited != admitted.queued.end();
    if (has_waited) {
      self->state.due.remove(waited->second.due);
      admitted.queued.erase(waited);
      admitted.listed->dequeue_step(number);
    }
    call_guarded(request, [&] { begin(self, request, *step, has_waited); });
  };
  if (self->state.admission->enter(client, number, std::move(on_admission)))
    return;
  auto leave_queue = [=](auto make_error) {
    auto& admission = *self->state.admission;
    admission.withdraw(client, number);
    if (auto queued = request->session().queued.extract(number))
      self->state.due.remove(queued.mapped().due);
    request->session().listed->dequeue_step(number);
    call_guarded(request, [&] { request->refuse(make_error(admission)); });
  };
  auto timed_out = [task = self->state.task](const admission_queue& admission) {
    return failure(error_kind::deadline_exceeded,
                   "the step waited for a free slot until its deadline: ", admission.running(),
                   " steps are running on ", task, ", and ", admission.waiting(), " are queued");
  };
  auto stopped = [](const admission_queue&) { return stopped_by_caller(); };
  session.queued[number] = {self->state.due.add(self, until, [=] { leave_queue(timed_out); }),
                            stop_request::watch(self, step->stop, [=] { leave_queue(stopped); })};
  session.listed->enqueue_step(number, steady_ns());
  watch_queue(self);
}

void positions(host_self self, const request_ptr& request, session_positions& received) {
  forward<std::vector<task_positions>>(
      self, request,
      ask_positions{.restore_from = std::move(received.restored_positions),
                    .tasks = std::move(received.tasks)});
}

void forget(const session_ptr& session, uint64_t handle) {
  auto stored = session->steps.find(handle);
  if (stored == session->steps.end())
    return;
  session->account->bytes -= stored->second.bytes;
  session->listed->bytes -= stored->second.bytes;
  --session->account->programs;
  --session->listed->programs;
  session->steps.erase(stored);
}

// A stop_request sends a message to its actor, so the request stops after this message was handled.
void stop(const session_ptr& session, uint64_t request) {
  if (auto source = session->stops.find(request); source != session->stops.end())
    source->second.request_stop();
  else
    session->early_stops.add(request);
}

// Answers a request that belongs to no session, or that the session does not count.
void refuse(host_self self, const incoming& received, uint64_t request, status why,
            bool not_begun = true) {
  self->send(received.from,
             outgoing{session_reply{.request = request,
                                    .outcome = std::move(why).with_task(self->state.task),
                                    .is_draining = self->state.options->server->draining(),
                                    .not_started = not_begun}});
}

deadline deadline_of(host_self self, uint64_t ms) {
  return ms < max_deadline_ms ? self->clock().now() + std::chrono::milliseconds{ms}
                              : deadline::max();
}

void serve(host_self self, incoming& received) {
  auto* content = std::get_if<session_request>(&received.content);
  if (!content || received.owner->is_closed)
    return;
  auto& state = self->state;
  if (auto* to_open = std::get_if<session_open>(&content->content)) {
    auto opened = open(self, received, *to_open);
    state.options->server->hosted().refused += !opened;
    if (!opened)
      return refuse(self, received, content->request, opened.status());
    return open_request{self, *opened, content->request}.answer({});
  }
  auto known = state.sessions.find(received.from.address());
  if (known == state.sessions.end())
    return refuse(self, received, content->request,
                  failure(error_kind::failed_precondition,
                          "this connection has no session: send session_open first"));
  auto session = known->second;
  if (auto* to_forget = std::get_if<session_release>(&content->content))
    return forget(session, to_forget->handle);
  if (auto* to_stop = std::get_if<session_stop>(&content->content))
    return stop(session, to_stop->request);
  auto* to_run = std::get_if<session_run>(&content->content);
  auto refuse_uncounted = [&](status why) {
    if (to_run)
      state.options->server->hosted().steps.count_refused(why.kind());
    refuse(self, received, content->request, std::move(why));
  };
  if (auto accepted = state.options->server->refusal(); !accepted)
    return refuse_uncounted(std::move(accepted));
  if (const auto& account = *session->account; account.steps >= account.limits.steps)
    return refuse_uncounted(
        account.limit_error(account.steps, "steps and other requests", state.task));
  auto request = std::make_shared<open_request>(self, session, content->request, to_run != nullptr);
  auto until = deadline_of(self, content->deadline_ms);
  // The wait for a silent task ends early, so that the answer reaches the client in time.
  auto early = until - std::min<step_clock::duration>(std::chrono::milliseconds{200},
                                                      (until - self->clock().now()) / 8);
  if (auto* to_prepare = std::get_if<session_prepare>(&content->content))
    prepare(self, request, *to_prepare, until);
  else if (to_run)
    run(self, request, *to_run, until);
  else if (auto* to_reset = std::get_if<session_reset>(&content->content))
    forward<status>(self, request, reset_request{std::move(to_reset->container)});
  else if (auto* to_end = std::get_if<session_initialization_end>(&content->content))
    forward<status>(self, request, end_initialization{to_end->done, to_end->initialization});
  else if (auto* to_list = std::get_if<session_state_of>(&content->content))
    forward<state_survey>(self, request, survey_state{std::move(to_list->task), early});
  else if (auto* to_position = std::get_if<session_positions>(&content->content))
    positions(self, request, *to_position);
  else if (std::get_if<session_known_devices>(&content->content))
    forward<std::vector<device_info>>(self, request, known_devices_atom::value);
  else
    forward<device_survey>(self, request, survey_devices{early});
}

caf::behavior host_behavior(host_self self, const std::shared_ptr<const hosting_options>& options,
                            const session_factory& make,
                            const std::shared_ptr<std::atomic<size_t>>& in_flight) {
  auto& state = self->state;
  state.make_session = make;
  state.options = options;
  state.in_flight = in_flight;
  state.task = to_string(options->server->self());
  state.background = spawn_background_executor(self->system());
  state.admission =
      std::make_unique<admission_queue>(std::max<size_t>(options->limits.max_concurrent_steps, 1));
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& error) -> caf::error {
    // Closes the connections, so that the clients go to another host.
    for (const auto& [exchange, session] : self->state.sessions)
      self->send_exit(session->exchange, caf::exit_reason::user_shutdown);
    close_all(self);
    return exception_as_error(error);
  });
  self->set_down_handler([=](const caf::down_msg& down) { lose(self, down.source); });
  self->set_exit_handler([=](const caf::exit_msg& message) {
    close_all(self);
    self->quit(message.reason);
  });
  return {
      [=](incoming& received) {
        // A request that throws does not end the sessions of other clients.
        const auto* content = std::get_if<session_request>(&received.content);
        if (auto served = guarded("serving a client", [&] { serve(self, received); }); !served)
          refuse(self, received, content ? content->request : 0, std::move(served), false);
      },
      [=](const stop_message& request) { request.act(); },
      [=](wake_atom) { self->state.due.wake(self); },
  };
}

} // namespace
} // namespace troupe::hosting

namespace troupe {

caf::actor spawn_session_host(caf::actor_system& system,
                              std::shared_ptr<const hosting_options> options, session_factory make,
                              std::shared_ptr<std::atomic<size_t>> in_flight) {
  return system.spawn(hosting::host_behavior, std::move(options), std::move(make),
                      std::move(in_flight));
}

} // namespace troupe
