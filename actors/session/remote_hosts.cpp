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
// Time limits of calls. With several addresses, the first round of calls is short, and each later
// round gives twice the time.
constexpr std::chrono::milliseconds first_call{250}, longest_call{2000};

status closed_session() { return failure(error_kind::cancelled, "the session is closed"); }

std::string list_of_addresses(const remote_state& state) {
  std::string list;
  for (const auto& address : state.addresses)
    list += concat(list.empty() ? "" : ", ", address);
  return list;
}

void fail_waiting(remote_self self, const status& why) {
  for (auto& waiting : std::exchange(self->state.waiting, {})) {
    self->state.due.remove(waiting.due);
    waiting.then(why);
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
  dial_result call{.to = {{}, 0},
                   .deadline = self->clock().now() + patience,
                   .outcome = {},
                   .socket = {},
                   .address = state.addresses[state.next_address]};
  auto address = call.address;
  state.transport.dial(self->system(), std::move(call), address, state.stop,
                       caf::actor_cast<caf::actor>(self));
}

namespace {

// Calls the next address. If every address has refused with an error that a retry does not change,
// all waiting requests fail.
void try_next(remote_self self, status why) {
  auto& state = self->state;
  auto may_change = why.kind() == error_kind::unavailable ||
                    why.kind() == error_kind::deadline_exceeded ||
                    why.kind() == error_kind::cancelled;
  state.refusals = may_change ? 0 : state.refusals + 1;
  state.last_error = std::move(why);
  state.next_address = (state.next_address + 1) % state.addresses.size();
  if (state.refusals >= state.addresses.size()) {
    state.refusals = 0;
    fail_waiting(self, status{state.last_error});
  }
  state.calling = true;
  self->delayed_send(self,
                     state.next_address == 0 || !may_change ? pause_between_hosts
                                                            : std::chrono::milliseconds{1},
                     next_host_atom::value);
}

} // namespace

void with_host(remote_self self, step_clock::time_point until, std::function<void(status)> then,
               const std::stop_token& stop) {
  auto& state = self->state;
  if (state.current && state.current->is_open)
    return then({});
  auto waiting = state.waiting.insert(state.waiting.end(), {std::move(then), {}});
  auto dismiss = [=](status why) {
    auto call_back = std::move(waiting->then);
    self->state.due.remove(waiting->due);
    self->state.waiting.erase(waiting);
    call_back(std::move(why));
  };
  waiting->due = state.due.add(self, until, [=] {
    const auto& last_error = self->state.last_error;
    dismiss(failure(error_kind::unavailable,
                    "no task accepted the session before the deadline; the addresses are ",
                    list_of_addresses(self->state),
                    last_error.ok() ? "" : concat(" (", last_error.message(), ")")));
  });
  waiting->stop = stop_request::watch(self, stop, [=] { dismiss(stopped_by_caller()); });
  if (!state.calling && !state.current)
    call_host(self);
}

namespace {

// Fails the unanswered requests of a host, which will not answer them.
void drop(remote_self self, const host_ptr& host, const status& why) {
  auto& state = self->state;
  if (state.current == host)
    state.current = nullptr;
  std::erase(state.draining, host);
  for (auto& [number, request] : std::exchange(host->pending, {})) {
    state.due.remove(request.due);
    session_reply lost{number, why};
    request.then(lost);
  }
}

void dismiss(remote_self self, const host_ptr& host, const status& why) {
  drop(self, host, why);
  self->send_exit(host->exchange, caf::exit_reason::user_shutdown);
}

// Closes the connection to a draining host that has answered all requests.
void dismiss_if_done(remote_self self, const host_ptr& host) {
  if (host->pending.empty() && std::erase(self->state.draining, host) > 0)
    self->send_exit(host->exchange, caf::exit_reason::user_shutdown);
}

} // namespace

bool note_loss(remote_state& state, const state_loss& loss) {
  const auto& on_state_lost = state.options.lost_state.on_state_lost;
  if (!on_state_lost || !on_state_lost(loss))
    return false;
  state.unrestored.insert(loss.task);
  return true;
}

step_clock::time_point later(step_clock::time_point time, std::chrono::milliseconds delay) {
  return time < step_clock::time_point::max() - delay ? time + delay : time;
}

uint64_t ask(remote_self self, const host_ptr& host, session_request request,
             step_clock::time_point until, std::function<void(session_reply&)> then) {
  auto number = self->state.next_number++;
  request.request = number;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(until - self->clock().now()).count();
  request.deadline_ms = static_cast<uint64_t>(std::max<int64_t>(left, 0));
  auto due = self->state.due.add(self, later(until, host_margin), [=] {
    auto pending = host->pending.find(number);
    auto call_back = std::move(pending->second.then);
    host->pending.erase(pending);
    session_reply none{number,
                       failure(error_kind::deadline_exceeded, host->name, " at ", host->address,
                               ", which hosts the session, did not answer "
                               "in time")};
    call_back(none);
    dismiss_if_done(self, host);
  });
  host->pending.emplace(number, pending_host_request{std::move(then), due});
  self->send(host->exchange, outgoing{std::move(request)});
  return number;
}

void stop(remote_self self, const host_ptr& host, uint64_t request) {
  self->send(host->exchange, outgoing{session_request{.content = session_stop{request}}});
}

namespace {

void open_session(remote_self self, const host_ptr& host) {
  const auto& options = self->state.options;
  const auto& programs = options.programs;
  session_open request{.container = options.container,
                       .region_per_node = programs.region_per_node,
                       .deterministic = programs.deterministic,
                       .replay = programs.replay,
                       .place_by_cost = programs.place_by_cost,
                       .max_concurrent = programs.max_concurrent_steps,
                       .transfer_precision = programs.transfer_precision,
                       .placement = programs.placement,
                       .passes = options.passes,
                       .restores = options.lost_state.on_state_lost != nullptr};
  auto until = self->clock().now() + options.peer_timeout;
  ask(self, host, {.content = std::move(request)}, until, [=](session_reply& reply) {
    auto& state = self->state;
    if (state.current != host) // the host is gone, and its requests have failed
      return;
    if (!reply.outcome) {
      auto why = std::move(reply.outcome).with_context(concat(host->name, " at ", host->address));
      dismiss(self, host, why);
      return try_next(self, std::move(why));
    }
    host->is_open = true;
    state.refusals = state.calls = 0;
    for (auto& waiting : std::exchange(state.waiting, {})) {
      state.due.remove(waiting.due);
      waiting.then({});
    }
  });
}

} // namespace

void handle_dial_result(remote_self self, dial_result& call) {
  auto& state = self->state;
  if (!call.outcome)
    return try_next(self, std::move(call.outcome));
  state.calling = false;
  auto host = std::make_shared<host_link>();
  host->number = state.next_number++;
  host->address = call.address;
  host->name = "the task";
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "client";
  exchange.self.cluster = state.cluster;
  exchange.self.incarnation = random_id();
  exchange.self.access_token = std::move(call.access_token);
  exchange.address = call.address;
  exchange.owner = caf::actor_cast<caf::actor>(self);
  exchange.opener = self->address();
  exchange.peer_timeout = state.options.peer_timeout;
  exchange.same_host_reads = state.options.same_host_reads;
  state.current = host; // first, because messages about it may come during open()
  host->exchange = state.transport.open(self->system(), call, std::move(exchange));
}

void handle_peer_ready(remote_self self, const peer_ready& peer) {
  auto host = self->state.current;
  if (!host || host->connection || !peer.connection ||
      peer.connection->exchange != host->exchange.address())
    return;
  host->connection = peer.connection;
  host->name = peer.connection->peer;
  if (peer.peer_hello.role == "task")
    return open_session(self, host);
  auto why = failure(error_kind::failed_precondition, host->address, " is a ", peer.peer_hello.role,
                     ", but only a task can host a session");
  dismiss(self, host, why);
  try_next(self, why);
}

void handle_peer_gone(remote_self self, const peer_gone& peer) {
  auto& state = self->state;
  auto draining = std::ranges::find(state.draining, peer.connection, &host_link::connection);
  auto host = draining != state.draining.end() ? *draining : state.current;
  // Before a task has introduced itself, its connection is that of the call.
  if (!host || (host->connection && host->connection != peer.connection) ||
      (peer.connection->exchange && peer.connection->exchange != host->exchange.address()))
    return;
  auto is_current = host == state.current;
  auto kind = peer.reason.kind() == error_kind::failed_precondition && !host->is_open
                  ? peer.reason.kind()
                  : error_kind::unavailable;
  auto why =
      failure(kind, host->name, " at ", host->address,
              host->is_open ? ", which hosts the session, is gone: " : ": ", peer.reason.message());
  auto was_open = host->is_open;
  drop(self, host, why);
  if (!is_current)
    return;
  try_next(self, why);
  if (was_open)
    state.calls = 0;
}

// Takes the answer of a host, or the reason why a request could not be sent.
void handle_reply(remote_self self, incoming& delivery) {
  auto& state = self->state;
  auto* reply = std::get_if<session_reply>(&delivery.content);
  auto is_sender = [&](const host_ptr& host) { return host && host->exchange == delivery.from; };
  auto draining = std::ranges::find_if(state.draining, is_sender);
  auto host = draining != state.draining.end() ? *draining : state.current;
  if (!reply || !is_sender(host))
    return;
  for (const auto& text : reply->warnings)
    if (state.options.on_warning)
      (void)guarded("on_warning", [&] { state.options.on_warning(text); }).ok();
  for (const auto& loss : reply->losses) {
    host->later_losses.insert(loss.number);
    note_loss(state, loss);
  }
  // A small answer may overtake a large one.
  while (host->later_losses.erase(host->acknowledged_loss + 1) > 0)
    ++host->acknowledged_loss;
  // A draining host still answers the requests that it has.
  if (reply->is_draining && host == state.current && host->is_open) {
    state.draining.push_back(host);
    state.current = nullptr;
    state.next_address = (state.next_address + 1) % state.addresses.size();
  }
  if (auto pending = host->pending.find(reply->request); pending != host->pending.end()) {
    auto request = std::move(pending->second);
    host->pending.erase(pending);
    state.due.remove(request.due);
    request.then(*reply);
  }
  dismiss_if_done(self, host);
}

bool is_for_next_host(const session_reply& reply) {
  return reply.is_draining && reply.not_started && !reply.outcome;
}

void close_hosts(remote_self self) {
  auto& state = self->state;
  *state.stop = true;
  fail_waiting(self, closed_session());
  auto hosts = state.draining;
  if (state.current)
    hosts.push_back(state.current);
  for (const auto& host : hosts)
    dismiss(self, host, closed_session());
}

} // namespace troupe::remote
