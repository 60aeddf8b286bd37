#include "troupe/actors/session/remote_hosts.hpp"

#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/runtime/version.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe::remote {
namespace {

constexpr std::chrono::milliseconds pause_between_hosts{100};
// Where there are several, the next is tried soon; later each is given more time.
constexpr std::chrono::milliseconds first_call{250}, longest_call{2000};

status closed_session() { return failure(error_kind::cancelled, "the session is closed"); }

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

} // namespace

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

namespace {

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

} // namespace

// Calls back when a task has the session, or with an error by the deadline.
void with_host(remote_self self, step_clock::time_point until, std::function<void(status)> then,
               const std::stop_token& stop) {
  auto& state = self->state;
  if (state.current && state.current->is_open)
    return then({});
  auto waits = state.waiting.insert(state.waiting.end(), {std::move(then), {}});
  auto dismiss = [=](status why) {
    auto tell = std::move(waits->then);
    self->state.due.remove(waits->due);
    self->state.waiting.erase(waits);
    tell(std::move(why));
  };
  waits->due = state.due.add(self, until, [=] {
    const auto& last = self->state.last;
    dismiss(failure(error_kind::unavailable, "no task that hosts the session was there in time at ",
                    list_of_addresses(self->state),
                    last.ok() ? "" : concat(" (", last.message(), ")")));
  });
  waits->stop = stop_request::watch(self, stop, [=] { dismiss(stopped_by_caller()); });
  if (!state.calling && !state.current)
    call_host(self);
}

namespace {

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

} // namespace

bool note_loss(remote_state& state, const state_loss& what) {
  const auto& lose = state.options.lost_state.lose;
  if (!lose || !lose(what))
    return false;
  state.unrestored.insert(what.task);
  return true;
}

step_clock::time_point later(step_clock::time_point when, std::chrono::milliseconds by) {
  return when < step_clock::time_point::max() - by ? when + by : when;
}

uint64_t ask(remote_self self, const host_ptr& host, session_request what,
             step_clock::time_point until, std::function<void(session_reply&)> then) {
  auto number = self->state.next_number++;
  what.request = number;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(until - self->clock().now()).count();
  what.deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left, 0));
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
  return number;
}

void stop(remote_self self, const host_ptr& host, uint64_t request) {
  self->send(host->exchange, outgoing{session_request{.what = session_stop{request}}});
}

namespace {

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
                    .passes = options.passes,
                    .restores = options.lost_state.lose != nullptr};
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

} // namespace

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
  for (const auto& one : reply->losses) {
    host->heard.insert(one.number);
    note_loss(state, one);
  }
  // A small answer may come before a large one that was sent before it.
  while (host->heard.erase(host->knows + 1) > 0)
    ++host->knows;
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

void close_hosts(remote_self self) {
  auto& state = self->state;
  *state.stop = true;
  fail_waiting(self, closed_session());
  auto all = state.left;
  if (state.current)
    all.push_back(state.current);
  for (const auto& host : all)
    dismiss(self, host, closed_session());
}

} // namespace troupe::remote
