#include "troupe/actors/remote_session.hpp"

#include "troupe/actors/deadlines.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/exchange.hpp"
#include "troupe/actors/hosted_step.hpp"
#include "troupe/actors/io_loop.hpp"
#include "troupe/actors/membership.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/prepared_step.hpp"
#include "troupe/actors/random_id.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/runtime/device/tsc_clock.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/files/statistics.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <list>
#include <map>

namespace troupe {
namespace {

constexpr std::chrono::milliseconds pause_between_hosts{100};
// Where there are several, the next is tried soon; later each is given more time.
constexpr std::chrono::milliseconds first_call{250}, longest_call{2000};
// The host answers at the deadline. It is waited for a little longer, and not for ever.
constexpr std::chrono::milliseconds host_margin{1000};

// Remote session -> itself: try the next address.
using next_host_atom = caf::atom_constant<caf::atom("nexthost")>;

// What was asked of a host, and who waits for it.
struct asked_host {
  std::function<void(session_reply&)> then;
  deadlines::key due;
};

// A connection to a task.
struct host_link {
  uint64_t number = 0;
  std::string address;
  caf::actor exchange;
  connection_ptr via; // none until the task has introduced itself
  std::string name;
  bool is_open = false; // it has taken the session
  std::map<uint64_t, asked_host> asked;
};

using host_ptr = std::shared_ptr<host_link>;

struct waiting_for_host {
  std::function<void(status)> then;
  deadlines::key due;
};

struct waiting_for_step {
  step_clock::time_point deadline;
  std::function<void(status)> then;
  deadlines::key due = {};
};

// A kind of step, and where it is prepared.
struct remote_step {
  session_prepare what;
  std::vector<bool> needs; // which feeds
  uint64_t host = 0, handle = 0;
  uint64_t asking_at = 0; // the host that prepares it; 0: none does
  std::list<waiting_for_step> waiting;
};

using remote_ptr = std::shared_ptr<remote_step>;

// A task on which the session has had state, as that host knew it last.
struct holder {
  uint64_t incarnation = 0, host = 0;
};

struct remote_state {
  explicit remote_state() {}
  ~remote_state() { *stop = true; }
  static inline const char* name = "troupe.remote_session";
  std::vector<std::string> addresses;
  client_options options;
  const node_times* measured = nullptr;
  membership_ways ways;
  std::string cluster; // whose tasks are believed
  deadlines due;
  host_ptr current;           // the one that is called, or has the session
  std::vector<host_ptr> left; // that take nothing new, and still have to answer
  bool calling = false;       // or waits to call
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
  size_t next_address = 0, calls = 0;
  size_t refusals = 0; // one after the other, of those that will not change their minds
  status last;         // why there is no host
  std::list<waiting_for_host> waiting;
  std::map<uint64_t, remote_ptr> steps;
  std::map<std::string, holder> holders; // by task
  uint64_t next_number = 1;
};

using remote_self = caf::stateful_actor<remote_state>*;

status closed_session() { return failure(error_kind::cancelled, "the session is closed"); }

// -- finding a host ------------------------------------------------------------------------------

std::string list_of_addresses(const remote_state& state) {
  std::string list;
  for (const auto& one : state.addresses)
    list += concat(list.empty() ? "" : ", ", one);
  return list;
}

void fail_waiting(remote_self self, const status& why) {
  for (auto& one : std::exchange(self->state.waiting, {})) {
    self->state.due.remove(one.due);
    one.then(why);
  }
}

void call_host(remote_self self) {
  auto& state = self->state;
  state.calling = !state.waiting.empty();
  if (!state.calling)
    return;
  auto rounds = std::min<size_t>(state.calls++ / state.addresses.size(), 3);
  auto patience = state.addresses.size() == 1 ? longest_call
                                              : std::min(first_call * (1 << rounds), longest_call);
  dialed call{.to = {{}, 0},
              .deadline = self->clock().now() + patience,
              .outcome = {},
              .socket = {},
              .address = state.addresses[state.next_address]};
  auto address = call.address;
  state.ways.dial(self->system(), std::move(call), address, state.stop,
                  caf::actor_cast<caf::actor>(self));
}

// Another address comes next. Where all say what waiting does not change, nobody waits.
void try_next(remote_self self, status why) {
  auto& state = self->state;
  auto may_change = why.kind() == error_kind::unavailable ||
                    why.kind() == error_kind::deadline_exceeded ||
                    why.kind() == error_kind::cancelled;
  state.refusals = may_change ? 0 : state.refusals + 1;
  state.last = std::move(why);
  state.next_address = (state.next_address + 1) % state.addresses.size();
  if (state.refusals >= state.addresses.size()) {
    state.refusals = 0;
    fail_waiting(self, status{state.last});
  }
  state.calling = true;
  self->delayed_send(self,
                     state.next_address == 0 || !may_change ? pause_between_hosts
                                                            : std::chrono::milliseconds{1},
                     next_host_atom::value);
}

// Calls back when a task has the session, or with an error by the deadline.
void with_host(remote_self self, step_clock::time_point until, std::function<void(status)> then) {
  auto& state = self->state;
  if (state.current && state.current->is_open)
    return then({});
  auto waits = state.waiting.insert(state.waiting.end(), {std::move(then), {}});
  waits->due = state.due.add(self, until, [=] {
    auto& in = self->state;
    auto tell = std::move(waits->then);
    in.waiting.erase(waits);
    tell(failure(error_kind::unavailable, "no task that hosts the session was there in time at ",
                 list_of_addresses(in), in.last.ok() ? "" : concat(" (", in.last.message(), ")")));
  });
  if (!state.calling && !state.current)
    call_host(self);
}

// What that task has not answered, it never will.
void drop(remote_self self, const host_ptr& which, const status& why) {
  auto& state = self->state;
  if (state.current == which)
    state.current = nullptr;
  std::erase(state.left, which);
  for (auto& [number, one] : std::exchange(which->asked, {})) {
    state.due.remove(one.due);
    session_reply lost{number, why};
    one.then(lost);
  }
}

void dismiss(remote_self self, const host_ptr& which, const status& why) {
  drop(self, which, why);
  self->send_exit(which->exchange, caf::exit_reason::user_shutdown);
}

// A host that takes nothing new is let go of when it has answered.
void dismiss_if_done(remote_self self, const host_ptr& which) {
  if (which->asked.empty() && std::erase(self->state.left, which) > 0)
    self->send_exit(which->exchange, caf::exit_reason::user_shutdown);
}

step_clock::time_point later(step_clock::time_point when, std::chrono::milliseconds by) {
  return when < step_clock::time_point::max() - by ? when + by : when;
}

void ask(remote_self self, const host_ptr& host, session_request what, step_clock::time_point until,
         std::function<void(session_reply&)> then) {
  auto number = self->state.next_number++;
  what.request = number;
  auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - self->clock().now()).count();
  what.deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left, 1));
  auto due = self->state.due.add(self, later(until, host_margin), [=] {
    auto it = host->asked.find(number);
    auto tell = std::move(it->second.then);
    host->asked.erase(it);
    session_reply none{number,
                       failure(error_kind::deadline_exceeded, host->name, " at ", host->address,
                               ", which hosts the session, did not answer "
                               "in time")};
    tell(none);
    dismiss_if_done(self, host);
  });
  host->asked.emplace(number, asked_host{std::move(then), due});
  self->send(host->exchange, outgoing{std::move(what)});
}

void open_session(remote_self self, const host_ptr& host) {
  const auto& options = self->state.options;
  const auto& programs = options.programs;
  session_open what{.container = options.container,
                    .region_per_node = programs.region_per_node,
                    .deterministic = programs.deterministic,
                    .replay = programs.replay,
                    .place_by_cost = programs.place_by_cost,
                    .max_concurrent = programs.max_concurrent,
                    .between_tasks = programs.between_tasks,
                    .placement = programs.placement,
                    .passes = options.passes};
  auto until = self->clock().now() + options.peer_timeout;
  ask(self, host, {.what = std::move(what)}, until, [=](session_reply& done) {
    auto& state = self->state;
    if (state.current != host) // it is gone, which was told
      return;
    if (!done.outcome) {
      auto why = std::move(done.outcome).within(concat(host->name, " at ", host->address));
      dismiss(self, host, why);
      return try_next(self, std::move(why));
    }
    host->is_open = true;
    state.refusals = state.calls = 0;
    for (auto& one : std::exchange(state.waiting, {})) {
      state.due.remove(one.due);
      one.then({});
    }
  });
}

void called(remote_self self, dialed& what) {
  auto& state = self->state;
  if (!what.outcome)
    return try_next(self, std::move(what.outcome));
  state.calling = false;
  auto host = std::make_shared<host_link>();
  host->number = state.next_number++;
  host->address = what.address;
  host->name = "the task";
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "client";
  exchange.self.cluster = state.cluster;
  exchange.self.incarnation = random_id();
  exchange.self.access_token = std::move(what.access_token);
  exchange.address = what.address;
  exchange.owner = caf::actor_cast<caf::actor>(self);
  exchange.opener = self->address();
  exchange.peer_timeout = state.options.peer_timeout;
  exchange.near_memory = state.options.near_memory;
  state.current = host; // first: it may be told of at once
  host->exchange = state.ways.open(self->system(), what, std::move(exchange));
}

void met(remote_self self, const peer_ready& what) {
  auto host = self->state.current;
  if (!host || host->via || !what.via || what.via->exchange != host->exchange.address())
    return;
  host->via = what.via;
  host->name = what.via->peer;
  if (what.who.role == "task")
    return open_session(self, host);
  auto why = failure(error_kind::failed_precondition, host->address, " is a ", what.who.role,
                     ", no task that could host a session");
  dismiss(self, host, why);
  try_next(self, why);
}

void gone(remote_self self, const peer_gone& what) {
  auto& state = self->state;
  auto found = std::ranges::find(state.left, what.via, &host_link::via);
  auto host = found != state.left.end() ? *found : state.current;
  // Before the task has introduced itself, its connection is that of the call.
  if (!host || (host->via && host->via != what.via) ||
      (what.via->exchange && what.via->exchange != host->exchange.address()))
    return;
  auto is_current = host == state.current;
  auto kind = what.why.kind() == error_kind::failed_precondition && !host->is_open
                  ? what.why.kind()
                  : error_kind::unavailable;
  auto why =
      failure(kind, host->name, " at ", host->address,
              host->is_open ? ", which hosts the session, is gone: " : ": ", what.why.message());
  auto had = host->is_open;
  drop(self, host, why);
  if (!is_current)
    return;
  try_next(self, why);
  if (had)
    state.calls = 0;
}

// The answer of a host, or why nothing could be sent to it.
void answered(remote_self self, incoming& what) {
  auto& state = self->state;
  auto* reply = std::get_if<session_reply>(&what.content);
  auto is_of = [&](const host_ptr& one) { return one && one->exchange == what.from; };
  auto found = std::ranges::find_if(state.left, is_of);
  auto host = found != state.left.end() ? *found : state.current;
  if (!reply || !is_of(host))
    return;
  for (const auto& text : reply->warnings)
    if (state.options.on_warning)
      (void)guarded("on_warning", [&] { state.options.on_warning(text); }).ok();
  // It goes on with what it has been asked for.
  if (reply->leaving && host == state.current && host->is_open) {
    state.left.push_back(host);
    state.current = nullptr;
    state.next_address = (state.next_address + 1) % state.addresses.size();
  }
  if (auto it = host->asked.find(reply->request); it != host->asked.end()) {
    auto one = std::move(it->second);
    host->asked.erase(it);
    state.due.remove(one.due);
    one.then(*reply);
  }
  dismiss_if_done(self, host);
}

// A host that takes nothing new has not begun with it: the next one is asked.
bool is_for_another(const session_reply& what) {
  return what.leaving && what.not_begun && !what.outcome;
}

// -- what sessions are asked ---------------------------------------------------------------------

// Errors of the host name the task that they come from already.
template <class Answer, class Promise>
void deliver(Promise promise, session_reply& from) {
  if (!from.outcome)
    promise.deliver(to_caf(from.outcome));
  else if (auto* what = std::get_if<Answer>(&from.what))
    promise.deliver(std::move(*what));
  else
    promise.deliver(to_caf(failure(error_kind::data_loss, "the host answers something else")));
}

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
  }
  learn_holders(state, host, from);
  if (lost == 0)
    return {};
  return failure(error_kind::aborted, names, lost == 1 ? " was" : " were",
                 " restarted, and what this session had there (variables, queues, tables) is gone: "
                 "initialize or restore it")
      .on_task(first);
}

// -- steps ---------------------------------------------------------------------------------------

// Has a step prepared where the session is now.
void ensure(remote_self self, const remote_ptr& step, step_clock::time_point until,
            std::function<void(status)> then);

bool is_ready(const remote_state& state, const remote_step& step) {
  return state.current && state.current->is_open && step.host == state.current->number;
}

void prepared(remote_self self, const remote_ptr& step, const host_ptr& host,
              const session_reply& done) {
  if (step->asking_at != host->number)
    return; // another prepares it since, and who waits, waits for that
  step->asking_at = 0;
  auto outcome = done.outcome;
  const auto* made = std::get_if<prepared_handle>(&done.what);
  if (outcome && made && step->waiting.empty()) { // it is known to nobody
    self->send(host->exchange, outgoing{session_request{.what = session_forget{made->handle}}});
    return;
  }
  if (outcome && made) {
    step->host = host->number;
    step->handle = made->handle;
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
      ensure(self, step, one.deadline, std::move(one.then));
    else
      one.then(outcome);
  }
}

void ensure(remote_self self, const remote_ptr& step, step_clock::time_point until,
            std::function<void(status)> then) {
  with_host(self, until, [=](status there) {
    if (!there)
      return then(std::move(there));
    if (is_ready(self->state, *step))
      return then({});
    auto waits = step->waiting.insert(step->waiting.end(), {until, then});
    waits->due = self->state.due.add(self, later(until, host_margin / 2), [=] {
      auto tell = std::move(waits->then);
      step->waiting.erase(waits);
      tell(failure(error_kind::deadline_exceeded, "the step was not prepared in time"));
    });
    auto host = self->state.current;
    if (std::exchange(step->asking_at, host->number) == host->number)
      return;
    ask(self, host, {.what = step->what}, until,
        [=](session_reply& done) { prepared(self, step, host, done); });
  });
}

caf::result<std::shared_ptr<prepared_step>> prepare(remote_self self, const prepare_request& what) {
  auto made = to_wire(what, self->state.measured);
  if (!made)
    return to_caf(made.status());
  auto promise = self->make_response_promise<std::shared_ptr<prepared_step>>();
  auto step = std::make_shared<remote_step>();
  step->what = *std::move(made);
  step->needs = needed_feeds(what);
  ensure(self, step, what.deadline, [=, outside = what.outside](const status& ready) mutable {
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
  });
  return promise;
}

caf::result<placement_report> explain(remote_self self, const explain_request& what) {
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

using run_promise = caf::typed_response_promise<step_outcome>;

void run_at_host(remote_self self, const remote_ptr& step,
                 const std::shared_ptr<step_request>& request, run_promise promise) {
  ensure(self, step, request->deadline, [=](status ready) mutable {
    if (!ready) {
      promise.deliver(step_outcome{std::move(ready), {}});
      return;
    }
    session_run asked{.handle = step->handle,
                      .times = request->watch.times,
                      .check_numerics = request->watch.check_numerics};
    asked.feeds.resize(request->feeds.size());
    for (size_t i = 0; i < asked.feeds.size(); ++i)
      if (step->needs[i])
        asked.feeds[i] = request->feeds[i];
    auto host = self->state.current;
    ask(self, host, {.what = std::move(asked)}, request->deadline,
        [=, asked_ns = steady_ns()](session_reply& done) mutable {
          if (is_for_another(done))
            return run_at_host(self, step, request, promise);
          learn_holders(self->state, host, done);
          step_outcome ended{std::move(done.outcome), {}};
          auto* ran = std::get_if<session_ran>(&done.what);
          if (ended.outcome && (!ran || ran->fetches.size() != request->step->outside.fetches))
            ended.outcome = failure(error_kind::data_loss, "the host answers something else");
          if (ran && request->watch.times)
            read_statistics_into(ended.statistics, *ran, asked_ns);
          if (ended.outcome)
            ended.fetches = std::move(ran->fetches);
          promise.deliver(std::move(ended));
        });
  });
}

caf::result<step_outcome> run(remote_self self, step_request& what) {
  if (auto fits = what.step->outside.check(what.feeds); !fits)
    return step_outcome{std::move(fits), {}};
  auto found = self->state.steps.find(what.step->participants.front().handle);
  if (found == self->state.steps.end())
    return step_outcome{failure(error_kind::internal, "the step is not this session's"), {}};
  auto promise = self->make_response_promise<step_outcome>();
  auto step = found->second;
  // It keeps the step.
  run_at_host(self, step, std::make_shared<step_request>(std::move(what)), promise);
  return promise;
}

void forget(remote_self self, uint64_t which) {
  auto& state = self->state;
  auto it = state.steps.find(which);
  if (it == state.steps.end())
    return;
  const auto& step = *it->second;
  if (state.current && state.current->is_open && step.host == state.current->number)
    self->send(state.current->exchange,
               outgoing{session_request{.what = session_forget{step.handle}}});
  state.steps.erase(it);
}

void close_remote(remote_self self) {
  auto& state = self->state;
  *state.stop = true;
  fail_waiting(self, closed_session());
  auto all = state.left;
  if (state.current)
    all.push_back(state.current);
  for (const auto& host : all)
    dismiss(self, host, closed_session());
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
    close_remote(self);
    return exception_as_error(what);
  });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    close_remote(self);
    self->quit(what.reason);
  });
  return {
      [=](step_request& what) { return run(self, what); },
      [=](const prepare_request& what) { return prepare(self, what); },
      [=](const explain_request& what) { return explain(self, what); },
      [=](const reset_request& what) { return reset(self, what); },
      [=](const list_state& what) {
        return ask_for<state_list>(self, session_state_of{what.task}, soon(self));
      },
      [=](ask_positions& what) {
        return ask_for<std::vector<task_positions>>(
            self, session_positions{std::move(what.go_on_from)}, soon(self));
      },
      [=](list_devices_atom) {
        return ask_for<std::vector<device_info>>(self, session_devices{}, soon(self));
      },
      [=](const forget_program& what) { forget(self, what.handle); },
      [=](dialed& what) { called(self, what); },
      [=](const peer_ready& what) { met(self, what); },
      [=](const peer_gone& what) { gone(self, what); },
      [=](incoming& what) { answered(self, what); },
      [=](next_host_atom) { call_host(self); },
      [=](wake_atom) { self->state.due.wake(self); },
  };
}

} // namespace

result<caf::actor> spawn_remote_session(caf::actor_system& system,
                                        const std::vector<std::string>& hosts,
                                        const client_options& options, const node_times* measured,
                                        const membership_ways* ways) {
  if (ways)
    return system.spawn(remote_behavior, hosts, options, measured, *ways, std::string{});
  std::string cluster;
  connection_trust trust{.tls = {}, .insecure = options.insecure};
  if (!options.tls.none()) {
    cluster = cluster_of_certificate(options.tls.certificate);
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = cluster,
                                                 .self = {},
                                                 .on_warning = options.on_warning}));
  }
  return system.spawn(remote_behavior, hosts, options, measured,
                      usual_ways(io_loop::make(), std::move(trust)), cluster);
}

} // namespace troupe
