#include "troupe/actors/hosting/session_host.hpp"

#include "troupe/actors/base/clerk.hpp"
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

// Later deadlines are none: a century.
constexpr uint64_t most_ms_left = uint64_t{100} * 365 * 24 * 3600 * 1000;
// Of a session, between two answers; and bytes of one.
constexpr size_t max_warnings = 16, longest_warning = 4096;
// So long somebody waits for a turn while nobody leaves, until one more is let in.
constexpr std::chrono::milliseconds patience_in_line{50};

// -- answers -------------------------------------------------------------------------------------

// What cannot be answered does not end the sessions of others.
template <class Act>
void carefully(const request_ptr& request, Act act) {
  if (auto done = guarded("serving a client", act); !done)
    (void)guarded("serving a client", [&] { request->answer(std::move(done)); }).ok();
}

template <class Question, class Answer>
void ask_session(host_self self, const request_ptr& request, Question what,
                 std::function<void(Answer&)> then) {
  // The master answers in time.
  self->request(request->session().session, caf::infinite, std::move(what))
      .then([=](Answer& answer) { carefully(request, [&] { then(answer); }); },
            [=](const caf::error& why) {
              carefully(request, [&] { request->answer(from_caf(why)); });
            });
}

// Asks for what is the answer as it is.
template <class Answer, class Question>
void forward(host_self self, const request_ptr& request, Question what) {
  ask_session<Question, Answer>(self, request, std::move(what), [=](Answer& answer) {
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

client_options options_of(const client_options& task, const session_open& what,
                          const std::shared_ptr<session_news>& news) {
  auto made = task;
  made.container = what.container;
  made.passes = what.passes;
  made.programs = {.region_per_node = what.region_per_node,
                   .max_concurrent = what.max_concurrent,
                   .deterministic = what.deterministic,
                   .replay = what.replay,
                   .place_by_cost = what.place_by_cost,
                   .between_tasks = what.between_tasks,
                   .placement = what.placement};
  made.session = random_id();
  made.on_warning = [news](const std::string& text) {
    std::lock_guard guard{news->mutex};
    if (news->warnings.size() < max_warnings)
      news->warnings.push_back(text.substr(0, longest_warning));
  };
  if (what.restores)
    made.lost_state = {.lose =
                           [news](const state_loss& one) {
                             std::lock_guard guard{news->mutex};
                             news->losses.push_back(one);
                             return true;
                           },
                       // Each request says which of them its client knows of.
                       .awaits = [](const std::string&) { return true; }};
  return made;
}

result<session_ptr> open(host_self self, const incoming& from, const session_open& what) {
  auto& state = self->state;
  const auto& options = *state.options;
  if (state.sessions.contains(from.from.address()))
    return failure(error_kind::failed_precondition, "this connection has a session already");
  TROUPE_TRY(options.server->refusal());
  if (options.limits.sessions == 0)
    return failure(error_kind::failed_precondition, state.task, " hosts no sessions");
  if (state.sessions.size() >= options.limits.sessions)
    return failure(error_kind::resource_exhausted, state.task, " hosts ", state.sessions.size(),
                   " sessions, as many as it may");
  auto made = std::make_shared<hosted_session>();
  made->owner = from.owner;
  made->to = from.from;
  made->of = state.accounts.of(from.owner, options.limits, state.next_number);
  if (made->of->sessions >= made->of->limits.sessions_each)
    return made->of->too_many(made->of->sessions, "sessions", "have", state.task);
  auto how = options_of(options.session, what, made->news);
  TROUPE_ASSIGN(made->session, state.make(self->system(), how));
  made->listed = std::make_shared<listed_session>(from.owner->peer, how.session);
  options.server->hosted().add(made->listed);
  ++made->of->sessions;
  state.sessions.emplace(from.from.address(), made);
  self->monitor(from.from);
  options.server->log().write(log_level::info, "session_opened", {{"client", from.owner->peer}});
  return made;
}

void close(host_self self, const session_ptr& which) {
  *which->closed = true;
  self->send_exit(which->session, caf::exit_reason::user_shutdown);
  --which->of->sessions;
  which->of->programs -= which->steps.size();
  for (const auto& [handle, kept] : which->steps)
    which->of->bytes -= kept.bytes;
  which->steps.clear();
  auto& server = *self->state.options->server;
  server.hosted().remove(*which->listed);
  for (const auto& [number, place] : which->in_line) {
    self->state.lets_in->withdraw(which->of->number, number);
    self->state.due.remove(place.due);
  }
  which->in_line.clear();
  server.log().write(log_level::info, "session_closed", {{"client", which->owner->peer}});
}

// The connection has ended, and all that came by it ends.
void lose(host_self self, const caf::actor_addr& exchange) {
  if (auto it = self->state.sessions.find(exchange); it != self->state.sessions.end()) {
    auto which = std::move(it->second);
    self->state.sessions.erase(it);
    close(self, which);
  }
}

void close_all(host_self self) {
  for (const auto& [exchange, session] : std::exchange(self->state.sessions, {}))
    close(self, session);
  self->send_exit(self->state.clerk, caf::exit_reason::user_shutdown);
}

// -- what they are asked for ---------------------------------------------------------------------

using deadline = step_clock::time_point;

void keep(const request_ptr& request, const std::shared_ptr<prepared_step>& step, uint64_t bytes) {
  auto& session = request->session();
  if (*session.closed)
    return;
  auto handle = session.next_handle++;
  session.steps.emplace(handle, kept_step{step, bytes});
  ++session.of->programs;
  ++session.listed->programs;
  session.of->bytes += bytes;
  session.listed->bytes += bytes;
  // Nobody runs it yet, so that its master leaves it alone.
  request->answer({}, prepared_handle{handle}, step->held());
}

void compile(host_self self, const request_ptr& request, bool explain, prepare_request made,
             uint64_t bytes, const std::shared_ptr<void>& counted) {
  if (explain)
    return ask_session<explain_request, placement_report>(
        self, request, explain_request{std::move(made)}, [=](placement_report& report) {
          (void)counted; // until it is answered
          request->answer({}, std::move(report));
        });
  ask_session<prepare_request, std::shared_ptr<prepared_step>>(
      self, request, std::move(made), [=](std::shared_ptr<prepared_step>& step) {
        (void)counted;
        keep(request, step, bytes);
      });
}

void prepare(host_self self, const request_ptr& request, session_prepare& what, deadline until) {
  auto& session = request->session();
  auto& of = *session.of;
  if (of.programs >= of.limits.programs)
    return request->answer(of.too_many(of.programs, "kinds of steps", "prepare", self->state.task));
  auto bytes = held_bytes(what);
  if (auto may = of.may_hold(bytes, self->state.task); !may)
    return request->answer(std::move(may));
  request->hold(bytes);
  ++of.programs; // until it is compiled, whoever keeps it then
  std::shared_ptr<void> counted{nullptr, [to = session.of](void*) { --to->programs; }};
  auto who = of.number, number = self->state.next_number++;
  auto explain = what.explain;
  auto read = std::make_shared<session_prepare>(std::move(what));
  auto go = [=, closed = session.closed, ops = self->state.options->session.ops] {
    auto late = self->clock().now() >= until;
    leave_to(
        self, self->state.clerk,
        [=]() -> result<prepare_request> {
          if (late)
            return failure(error_kind::deadline_exceeded, "the graph was not read in time");
          if (*closed)
            return failure(error_kind::cancelled, "the client is gone");
          return from_wire(*read, *ops, until);
        },
        [=](result<prepare_request> made) {
          self->state.reads.leave(who);
          carefully(request, [&] {
            if (!made)
              return request->answer(made.status());
            made->stop = request->stop();
            compile(self, request, explain, *std::move(made), bytes, counted);
          });
        });
  };
  self->state.reads.enter(who, number, std::move(go));
}

session_ran ran(step_outcome& done, int64_t begin_ns, bool times) {
  session_ran made{.fetches = std::move(done.fetches), .step = done.statistics.step};
  if (!times)
    return made;
  for (const auto& one : done.statistics.tasks)
    if (auto bytes = write_statistics(one)) // a step is not lost for want of them
      made.statistics.push_back(*std::move(bytes));
  made.begin_ns = begin_ns;
  made.end_ns = steady_ns();
  return made;
}

// Where all that run wait for what a step in line brings, nobody would ever leave.
void watch_line(host_self self) {
  auto& state = self->state;
  if (state.lets_in->waiting() == 0 || std::exchange(state.watches_line, true))
    return;
  state.due.add(self, self->clock().now() + patience_in_line, [=, left = state.lets_in->left()] {
    auto& now = self->state;
    now.watches_line = false;
    if (now.lets_in->left() == left)
      now.lets_in->let_one_more();
    watch_line(self);
  });
}

// It has been let in. What cannot go on leaves in a later turn, so that a long line makes no deep
// stack.
void begin(host_self self, const request_ptr& request, step_request& step, bool has_waited) {
  auto& of = request->session();
  auto who = of.of->number;
  auto leave_soon = [=] {
    self->state.due.add(self, self->clock().now(), [=] { self->state.lets_in->leave(who); });
  };
  if (auto open = self->state.options->server->refusal(); has_waited && !open) {
    leave_soon();
    return request->turn_away(std::move(open));
  }
  auto times = step.watch.times;
  auto listed = of.listed;
  ++listed->running;
  auto ended = [=, begin_ns = steady_ns()](status outcome, step_outcome* done) {
    carefully(request, [&] {
      if (done)
        request->answer(std::move(outcome), ran(*done, begin_ns, times), std::move(done->held),
                        std::move(done->fills));
      else
        request->answer(std::move(outcome));
    });
    --listed->running;
    self->state.lets_in->leave(who);
  };
  auto asked = guarded("serving a client", [&] {
    self->request(of.session, caf::infinite, std::move(step))
        .then([=](step_outcome& done) { ended(std::move(done.outcome), &done); },
              [=](const caf::error& why) { ended(from_caf(why), nullptr); });
  });
  if (!asked) {
    --listed->running;
    leave_soon();
    request->answer(std::move(asked));
  }
}

void run(host_self self, const request_ptr& request, session_run& what, deadline until) {
  auto& session = request->session();
  auto found = session.steps.find(what.handle);
  if (found == session.steps.end())
    return request->refuse(failure(error_kind::not_found, "the session has no step ", what.handle,
                                   " on ", self->state.task));
  uint64_t bytes = 0;
  for (const auto& one : what.feeds)
    bytes += held_bytes(one);
  if (auto may = session.of->may_hold(bytes, self->state.task); !may)
    return request->refuse(std::move(may));
  request->hold(bytes);
  step_request asked{found->second.step,
                     std::move(what.feeds),
                     until,
                     {.times = what.times, .check_numerics = what.check_numerics},
                     what.knows,
                     what.fill,
                     what.retried,
                     request->stop()};
  if (asked.stop.stop_requested())
    return request->refuse(stopped_by_caller());
  auto who = session.of->number;
  auto number = self->state.next_number++;
  auto step = std::make_shared<step_request>(std::move(asked));
  auto go = [=] {
    auto& of = request->session();
    auto waited = of.in_line.find(number);
    auto has_waited = waited != of.in_line.end();
    if (has_waited) {
      self->state.due.remove(waited->second.due);
      of.in_line.erase(waited);
      of.listed->leave_line(number);
    }
    carefully(request, [&] { begin(self, request, *step, has_waited); });
  };
  if (self->state.lets_in->enter(who, number, std::move(go)))
    return;
  auto leave_line = [=](auto why) {
    auto& line = *self->state.lets_in;
    line.withdraw(who, number);
    if (auto left = request->session().in_line.extract(number))
      self->state.due.remove(left.mapped().due);
    request->session().listed->leave_line(number);
    carefully(request, [&] { request->refuse(why(line)); });
  };
  auto late = [task = self->state.task](const turns& line) {
    return failure(error_kind::deadline_exceeded,
                   "the step was not let in in time: ", line.running(), " run on ", task, ", and ",
                   line.waiting(), " wait in line");
  };
  auto stopped = [](const turns&) { return stopped_by_caller(); };
  session.in_line[number] = {self->state.due.add(self, until, [=] { leave_line(late); }),
                             stop_request::watch(self, step->stop, [=] { leave_line(stopped); })};
  session.listed->wait_in_line(number, steady_ns());
  watch_line(self);
}

void positions(host_self self, const request_ptr& request, session_positions& what) {
  forward<std::vector<task_positions>>(
      self, request,
      ask_positions{.go_on_from = std::move(what.go_on_from), .tasks = std::move(what.tasks)});
}

void forget(const session_ptr& session, uint64_t handle) {
  auto found = session->steps.find(handle);
  if (found == session->steps.end())
    return;
  session->of->bytes -= found->second.bytes;
  session->listed->bytes -= found->second.bytes;
  --session->of->programs;
  --session->listed->programs;
  session->steps.erase(found);
}

// It is asked while the host does something else: whoever is told acts in a later turn.
void stop(const session_ptr& session, uint64_t request) {
  if (auto found = session->stops.find(request); found != session->stops.end())
    found->second.request_stop();
  else
    session->early_stops.add(request);
}

// What is answered where there is no session to answer for.
void refuse(host_self self, const incoming& what, uint64_t request, status why,
            bool not_begun = true) {
  self->send(what.from, outgoing{session_reply{.request = request,
                                               .outcome = std::move(why).on_task(self->state.task),
                                               .leaving = self->state.options->server->draining(),
                                               .not_begun = not_begun}});
}

deadline deadline_of(host_self self, uint64_t ms) {
  return ms < most_ms_left ? self->clock().now() + std::chrono::milliseconds{ms} : deadline::max();
}

void serve(host_self self, incoming& what) {
  auto* asked = std::get_if<session_request>(&what.content);
  if (!asked || what.owner->gone)
    return;
  auto& state = self->state;
  if (auto* first = std::get_if<session_open>(&asked->what)) {
    auto opened = open(self, what, *first);
    state.options->server->hosted().refused += !opened;
    if (!opened)
      return refuse(self, what, asked->request, opened.status());
    return open_request{self, *opened, asked->request}.answer({});
  }
  auto known = state.sessions.find(what.from.address());
  if (known == state.sessions.end())
    return refuse(self, what, asked->request,
                  failure(error_kind::failed_precondition,
                          "this connection has no session: it is opened first"));
  auto session = known->second;
  if (auto* unused = std::get_if<session_forget>(&asked->what))
    return forget(session, unused->handle);
  if (auto* unwanted = std::get_if<session_stop>(&asked->what))
    return stop(session, unwanted->request);
  auto* step = std::get_if<session_run>(&asked->what);
  auto turn_away = [&](status why) {
    if (step)
      state.options->server->hosted().steps.refused(why.kind());
    refuse(self, what, asked->request, std::move(why));
  };
  if (auto open = state.options->server->refusal(); !open)
    return turn_away(std::move(open));
  if (session->of->steps >= session->of->limits.steps)
    return turn_away(session->of->too_many(session->of->steps, "steps and other requests",
                                           "have at once", state.task));
  auto request = std::make_shared<open_request>(self, session, asked->request, step != nullptr);
  auto until = deadline_of(self, asked->deadline_ms);
  // The client is still there when a silent task is given up.
  auto early = until - std::min<step_clock::duration>(std::chrono::milliseconds{200},
                                                      (until - self->clock().now()) / 8);
  if (auto* one = std::get_if<session_prepare>(&asked->what))
    prepare(self, request, *one, until);
  else if (step)
    run(self, request, *step, until);
  else if (auto* reset = std::get_if<session_reset>(&asked->what))
    forward<status>(self, request, reset_request{std::move(reset->container)});
  else if (auto* filled = std::get_if<session_fill_end>(&asked->what))
    forward<status>(self, request, end_fill{filled->done, filled->fill});
  else if (auto* look = std::get_if<session_state_of>(&asked->what))
    forward<state_survey>(self, request, survey_state{std::move(look->task), early});
  else if (auto* where = std::get_if<session_positions>(&asked->what))
    positions(self, request, *where);
  else if (std::get_if<session_known_devices>(&asked->what))
    forward<std::vector<device_info>>(self, request, known_devices_atom::value);
  else
    forward<device_survey>(self, request, survey_devices{early});
}

caf::behavior host_behavior(host_self self, const std::shared_ptr<const hosting_options>& options,
                            const session_maker& make,
                            const std::shared_ptr<std::atomic<size_t>>& in_flight) {
  auto& state = self->state;
  state.make = make;
  state.options = options;
  state.in_flight = in_flight;
  state.task = to_string(options->server->self());
  state.clerk = spawn_clerk(self->system());
  state.lets_in = std::make_unique<turns>(std::max<size_t>(options->limits.steps_at_once, 1));
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& what) -> caf::error {
    // Clients find out by their connections, and go elsewhere.
    for (const auto& [exchange, session] : self->state.sessions)
      self->send_exit(session->to, caf::exit_reason::user_shutdown);
    close_all(self);
    return exception_as_error(what);
  });
  self->set_down_handler([=](const caf::down_msg& what) { lose(self, what.source); });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    close_all(self);
    self->quit(what.reason);
  });
  return {
      [=](incoming& what) {
        // What cannot be served does not end the sessions of others.
        const auto* asked = std::get_if<session_request>(&what.content);
        if (auto done = guarded("serving a client", [&] { serve(self, what); }); !done)
          refuse(self, what, asked ? asked->request : 0, std::move(done), false);
      },
      [=](const stop_wanted& what) { what.act(); },
      [=](wake_atom) { self->state.due.wake(self); },
  };
}

} // namespace
} // namespace troupe::hosting

namespace troupe {

caf::actor spawn_session_host(caf::actor_system& system,
                              std::shared_ptr<const hosting_options> options, session_maker make,
                              std::shared_ptr<std::atomic<size_t>> in_flight) {
  return system.spawn(hosting::host_behavior, std::move(options), std::move(make),
                      std::move(in_flight));
}

} // namespace troupe
