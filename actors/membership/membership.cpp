#include "troupe/actors/membership/membership.hpp"

#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/membership/joined_cluster.hpp"
#include "troupe/actors/membership/member_log.hpp"
#include "troupe/actors/membership/seed_links.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/task/step_server.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace troupe {
namespace {

using on_link = std::function<void(const result<peer_link>&)>;

// Membership -> itself: call the task again.
struct call_again {
  task_name to;
};

// Membership -> itself: read the source of addresses again, unless it was read meanwhile.
struct read_again {
  uint64_t reads;
};

// Address source -> membership, on any thread: the addresses have changed.
using source_changed_atom = caf::atom_constant<caf::atom("srcchanged")>;

// Membership -> itself: run the timers of a joined cluster.
using joined_tick_atom = caf::atom_constant<caf::atom("jointick")>;

constexpr std::chrono::milliseconds pause_between_calls{100};
constexpr std::chrono::milliseconds joined_tick{500}, longest_probe{3000};
// How long to wait for the other task's call before calling it. The other task compiles meanwhile,
// as the caller does.
constexpr std::chrono::milliseconds patience_with_caller{1000};
// While a request waits for a task, the source is read this often; and at most this often if it
// reports changes.
constexpr std::chrono::milliseconds pause_between_reads{100};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::call_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::read_again)

namespace troupe {
namespace {

struct waiting_link {
  on_link then;
  step_clock::time_point deadline;
  deadlines::key due;
  bool single_attempt = false; // as in connect_request
};

// The address of one task, and the link to it.
struct member_link {
  std::string address;               // empty while the cluster does not have the task
  caf::actor exchange;               // null without a connection
  bool ready = false;                // the peer has introduced itself
  bool dialing = false;              // this process calls the task, or waits for its call
  bool makes_single_attempt = false; // the current call makes one attempt
  uint64_t incarnation = 0;
  connection_ptr connection;
  status last_error; // why there is no connection
  std::vector<waiting_link> waiting;
  std::shared_ptr<std::atomic<bool>> stop = {}; // ends the current call
};

struct membership_state {
  explicit membership_state() {}
  ~membership_state() { stop_calls(); }
  void stop_calls() {
    for (auto& [task, link] : members)
      if (link.stop)
        *link.stop = true;
  }
  static inline const char* name = "troupe.membership";
  membership_options options;
  deadlines due;
  std::map<task_name, member_link> members;
  std::unique_ptr<joined_cluster> joined; // set if tasks join the cluster
  std::unique_ptr<seed_links> seeds;      // likewise
  // The last list of a joined cluster that operators see.
  std::shared_ptr<const member_list> shown = std::make_shared<member_list>();
  caf::actor_addr watcher;           // gets notified of lost links
  caf::actor_addr reported_waits_to; // the exchange that has got the last report of waits
  bool reading = false;              // the source
  bool source_changed = false;       // since the last read has begun
  uint64_t reads = 0;
  status source_error; // of the last read
  step_clock::time_point read_at;
};

using membership_self = caf::stateful_actor<membership_state>*;

void answer(membership_self self, std::vector<waiting_link> requests,
            const result<peer_link>& outcome) {
  for (auto& request : requests) {
    self->state.due.remove(request.due);
    request.then(outcome);
  }
}

// Fails the requests whose deadline is not after `until`.
void refuse(membership_self self, member_link& link, const status& why,
            step_clock::time_point until = step_clock::time_point::max()) {
  auto first_refused =
      std::stable_partition(link.waiting.begin(), link.waiting.end(),
                            [&](const auto& request) { return request.deadline > until; });
  std::vector<waiting_link> refused{std::make_move_iterator(first_refused),
                                    std::make_move_iterator(link.waiting.end())};
  link.waiting.erase(first_refused, link.waiting.end());
  answer(self, std::move(refused), why);
}

// Fails the requests that asked for a single attempt.
void refuse_single_attempts(membership_self self, member_link& link, const status& why) {
  auto first_refused =
      std::stable_partition(link.waiting.begin(), link.waiting.end(),
                            [](const auto& request) { return !request.single_attempt; });
  std::vector<waiting_link> refused{std::make_move_iterator(first_refused),
                                    std::make_move_iterator(link.waiting.end())};
  link.waiting.erase(first_refused, link.waiting.end());
  answer(self, std::move(refused), why);
}

// Fails all requests, when the membership ends.
void refuse_all(membership_self self, const status& why) {
  for (auto& [task, link] : self->state.members)
    refuse(self, link, status{why}.with_task(to_string(task)));
}

// Dials until the last deadline of the waiting requests, or once if a request wants one attempt.
void start_dialing(membership_self self, const task_name& to, member_link& link) {
  link.dialing = true;
  link.makes_single_attempt = std::ranges::any_of(link.waiting, &waiting_link::single_attempt);
  link.stop = std::make_shared<std::atomic<bool>>(false);
  auto deadline = std::ranges::max_element(link.waiting, {}, &waiting_link::deadline)->deadline;
  dial_result call{.to = to,
                   .deadline = deadline,
                   .outcome = {},
                   .socket = {},
                   .address = link.address,
                   .single_attempt = link.makes_single_attempt};
  self->state.options.transport.dial(self->system(), std::move(call), link.address, link.stop,
                                     caf::actor_cast<caf::actor>(self));
}

bool wants_call(const member_link& link) {
  return !link.waiting.empty() && !link.address.empty() && !link.exchange && !link.dialing;
}

// Returns whether the entry has no request and no task.
bool is_unused(const member_link& link) {
  return link.address.empty() && !link.exchange && !link.dialing && link.waiting.empty();
}

void read_source(membership_self self) {
  auto& state = self->state;
  if (state.reading || !state.options.cluster.polls_source())
    return;
  state.reading = true;
  state.source_changed = false;
  state.options.transport.read(self->system(), state.options.cluster.source,
                               caf::actor_cast<caf::actor>(self));
}

void send_task_list(membership_self self) {
  auto watcher = caf::actor_cast<caf::actor>(self->state.watcher);
  if (!watcher || !self->state.options.cluster.may_change())
    return;
  task_list known;
  for (const auto& [task, address] : self->state.options.cluster.known.tasks)
    known.tasks.push_back(task);
  self->send(watcher, std::move(known));
}

// A call to an address that has changed ends, and a call to the new address follows.
void take_addresses(membership_self self, task_addresses addresses) {
  auto& state = self->state;
  auto& known = state.options.cluster.known;
  if (addresses.tasks == known.tasks)
    return;
  known.tasks = std::move(addresses.tasks);
  if (known.cluster.empty())
    known.cluster = std::move(addresses.cluster);
  if (state.options.view)
    state.options.view->set(known);
  for (const auto& [task, address] : known.tasks)
    state.members[task];
  for (auto& [task, link] : state.members) {
    auto entry = known.tasks.find(task);
    auto address = entry == known.tasks.end() ? std::string{} : entry->second;
    if (address == link.address)
      continue;
    link.address = std::move(address);
    if (link.stop)
      *link.stop = true;
    if (wants_call(link))
      start_dialing(self, task, link);
  }
  std::erase_if(state.members, [](const auto& entry) { return is_unused(entry.second); });
  send_task_list(self);
}

void take_source(membership_self self, address_update& update) {
  auto& state = self->state;
  state.reading = false;
  ++state.reads;
  state.read_at = self->clock().now();
  state.source_error = update.addresses ? status{} : update.addresses.status();
  if (update.addresses)
    take_addresses(self, *std::move(update.addresses));
  auto is_awaited = std::ranges::any_of(state.members, [](const auto& entry) {
    return !entry.second.waiting.empty() && !entry.second.ready;
  });
  auto pause = state.options.cluster.source->poll_interval();
  if (is_awaited || state.source_changed)
    pause = std::min(pause, pause_between_reads);
  self->delayed_send(self, pause, read_again{state.reads});
}

// The source has reported a change. If it is being read, take_source() reads it again.
void handle_source_change(membership_self self) {
  auto& state = self->state;
  if (std::exchange(state.source_changed, true) || state.reading)
    return;
  auto since_read = self->clock().now() - state.read_at;
  if (since_read >= pause_between_reads)
    read_source(self);
  else
    self->delayed_send(self, pause_between_reads - since_read, read_again{state.reads});
}

// The source may outlive the membership.
void subscribe_to_source(membership_self self) {
  self->state.options.cluster.source->on_change([address = self->address()] {
    if (auto membership = caf::actor_cast<caf::actor>(address))
      caf::anon_send(membership, source_changed_atom::value);
  });
}

// Reports the waits of steps to one task, the first with a link: operators who ask two tasks would
// see each wait twice.
void report_waits_to_task(membership_self self, waits_report& report) {
  auto& state = self->state;
  auto linked = std::ranges::find_if(
      state.members, [](const auto& entry) { return entry.second.ready && entry.second.exchange; });
  auto receiver = linked == state.members.end() ? caf::actor{} : linked->second.exchange;
  auto former = caf::actor_cast<caf::actor>(
      std::exchange(state.reported_waits_to, caf::actor_cast<caf::actor_addr>(receiver)));
  if (former && former != receiver)
    self->send(former, outgoing{client_waits{}});
  if (receiver)
    self->send(receiver, outgoing{client_waits{std::move(report.waits)}});
}

// Notifies the watcher that a linked task can no longer run a part of a step.
void report_lost_part(membership_self self, const program_lost& lost_program,
                      const connection_ptr& connection) {
  auto& state = self->state;
  auto watcher = caf::actor_cast<caf::actor>(state.watcher);
  auto entry = std::ranges::find(state.members, connection,
                                 [](const auto& member) { return member.second.connection; });
  if (watcher && entry != state.members.end())
    self->send(watcher, part_lost{entry->first, lost_program.handle});
}

status connect_error(const membership_state& state, const task_name& task,
                     const member_link& link) {
  const auto& source = state.options.cluster.source;
  if (link.address.empty() && !link.exchange && state.joined)
    return failure(error_kind::not_found, task, " has not joined the cluster in time");
  if (link.address.empty() && !link.exchange && source)
    return failure(error_kind::not_found, source->name(), " has named no task ", task, " in time",
                   state.source_error.ok() ? "" : concat(" (", state.source_error.message(), ")"));
  return failure(error_kind::unavailable, task, " at ", link.address,
                 link.exchange ? " did not introduce itself in time"
                               : " could not be reached in time",
                 link.last_error.ok() ? "" : concat(" (", link.last_error.message(), ")"));
}

// Fails the requests for the task whose deadline has passed.
void refuse_overdue(membership_self self, const task_name& task) {
  auto& members = self->state.members;
  auto entry = members.find(task);
  if (entry == members.end())
    return;
  refuse(self, entry->second, connect_error(self->state, task, entry->second), self->clock().now());
  if (is_unused(entry->second))
    members.erase(entry);
}

// Calls `then` before returning if the link is ready.
void connect(membership_self self, const connect_request& request, on_link then) {
  auto& members = self->state.members;
  auto entry = members.find(request.task);
  if (entry == members.end()) {
    if (!self->state.options.cluster.may_change())
      return then(failure(error_kind::not_found, "the cluster has no task ", request.task));
    entry = members.try_emplace(request.task).first;
  }
  auto& link = entry->second;
  if (link.ready)
    return then(peer_link{request.task, link.incarnation, link.exchange, link.connection});
  auto due = self->state.due.add(self, request.deadline,
                                 [=, task = request.task] { refuse_overdue(self, task); });
  link.waiting.push_back({std::move(then), request.deadline, due, request.single_attempt});
  // Ends the call that repeats its attempts; a call with one attempt follows.
  if (request.single_attempt && link.stop && !link.makes_single_attempt)
    *link.stop = true;
  if (self->clock().now() - self->state.read_at >= pause_between_reads)
    read_source(self);
  if (wants_call(link)) {
    // Of two tasks that need each other, the one with the lesser name calls.
    if (request.mutual && request.task < self->state.options.self) {
      link.dialing = true;
      self->delayed_send(self, patience_with_caller, call_again{request.task});
    } else {
      start_dialing(self, request.task, link);
    }
  }
}

caf::result<peer_link> connect(membership_self self, const connect_request& request) {
  auto promise = self->make_response_promise<peer_link>();
  connect(self, request, [promise](const result<peer_link>& link) mutable {
    if (link)
      promise.deliver(*link);
    else
      promise.deliver(to_caf(link.status()));
  });
  return promise;
}

// Spawns the exchange of a connection that this process has opened.
caf::actor spawn_outbound_exchange(membership_self self, dial_result& call,
                                   std::optional<task_name> expected) {
  const auto& options = self->state.options;
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = options.role;
  exchange.self.job = options.self.job;
  exchange.self.task = options.self.task;
  exchange.self.incarnation = options.incarnation;
  exchange.expected = std::move(expected);
  exchange.address = call.address;
  exchange.owner = options.owner;
  exchange.opener = self->address();
  exchange.server = options.server;
  exchange.incarnations = options.incarnations;
  exchange.self.cluster = options.cluster.known.cluster;
  exchange.self.access_token = std::move(call.access_token);
  exchange.peer_timeout = options.peer_timeout;
  exchange.same_host_reads = options.same_host_reads;
  return options.transport.open(self->system(), call, std::move(exchange));
}

// -- a cluster that tasks join

// Passes on the incarnation of the task that answers; 0 if none answers. A ready link is
// sufficient, because its heartbeat works.
void find_incarnation(membership_self self, const task_name& task,
                      const std::function<void(uint64_t)>& then) {
  connect(self, connect_request{task, self->clock().now() + longest_probe},
          [=](const result<peer_link>& link) { then(link ? link->incarnation : 0); });
}

void log_warning(membership_self self, std::string_view event, const std::string& text) {
  if (auto* server = self->state.options.server.get())
    server->log().write(log_level::warning, event, {{"text", text}});
}

// Passes a changed list on to the log and the view of operators.
void show_list(membership_self self, const member_list& changed) {
  auto& state = self->state;
  auto before = std::exchange(state.shown, std::make_shared<member_list>(changed));
  if (auto* server = state.options.server.get())
    log_members(server->log(), *before, changed);
  if (state.options.view)
    state.options.view->set(state.shown);
}

// Begins to follow a cluster that tasks join.
void start_joining(membership_self self) {
  auto& state = self->state;
  auto& options = state.options;
  state.seeds = std::make_unique<seed_links>(
      self, options.join.seeds, options.join.address,
      seed_links::transport{
          .dial =
              [=](dial_result call, std::shared_ptr<std::atomic<bool>> stop) {
                auto address = call.address;
                self->state.options.transport.dial(self->system(), std::move(call), address,
                                                   std::move(stop),
                                                   caf::actor_cast<caf::actor>(self));
              },
          .open = [=](dial_result& call) { return spawn_outbound_exchange(self, call, {}); },
          .follows = [=] { return self->state.joined->has_coordinator_connection(); }});
  state.joined = std::make_unique<joined_cluster>(
      options.join, options.self, options.incarnation,
      join_host{
          .set_tasks =
              [=](task_addresses addresses) { take_addresses(self, std::move(addresses)); },
          .end_process =
              [=](const status& why) {
                refuse_all(self, why);
                self->quit(to_caf(why));
              },
          .find_incarnation =
              [=](const task_name& task, const std::function<void(uint64_t)>& then) {
                find_incarnation(self, task, then);
              },
          .now = [=] { return self->clock().now(); },
          .keep_connection = [=](const std::string& address) { self->state.seeds->keep(address); },
          .expect_member = [=](const std::string& address) { self->state.seeds->expect(address); },
          .show_list = [=](const member_list& changed) { show_list(self, changed); },
          .log = [=](std::string_view event,
                     std::string text) { log_warning(self, event, text); }});
  state.seeds->call_all();
  self->set_down_handler([=](const caf::down_msg& down) { self->state.seeds->lost(down.source); });
  self->delayed_send(self, joined_tick, joined_tick_atom::value);
}

void handle_dial_result(membership_self self, dial_result& call) {
  if (call.to.job.empty())
    return self->state.seeds->connected(call);
  auto& link = self->state.members.at(call.to); // exists as long as the call
  link.dialing = false;
  auto stopped = std::exchange(link.stop, nullptr);
  if (link.exchange) { // the task has called meanwhile: this connection is closed unused
    TROUPE_REACHED("a task calls while it is called");
    return;
  }
  if (call.address != link.address || (!call.outcome && stopped && *stopped)) {
    TROUPE_REACHED("a task has another address while it is called");
    if (wants_call(link))
      start_dialing(self, call.to, link);
    return;
  }
  if (!call.outcome) {
    if (auto* server = self->state.options.server.get())
      server->log().write(log_level::warning, "task_unreachable",
                          {{"other", to_string(call.to)},
                           {"address", link.address},
                           {"why", call.outcome.message()}});
    if (call.single_attempt)
      refuse_single_attempts(self, link, call.outcome);
    else
      refuse(self, link, call.outcome, call.deadline);
    if (!link.waiting.empty()) { // a request with a later deadline has come
      TROUPE_REACHED("a task is dialed again until a later deadline");
      start_dialing(self, call.to, link);
    }
    return;
  }
  link.exchange = spawn_outbound_exchange(self, call, call.to);
}

void handle_peer_ready(membership_self self, const peer_ready& ready) {
  const auto& greeting = ready.peer_hello;
  auto& state = self->state;
  if (state.joined) {
    state.joined->connected(ready);
    if (ready.connection && state.seeds->is_first(ready.connection->exchange))
      state.joined->reached_first(ready.connection);
    state.seeds->check_coordinator();
  }
  if (greeting.role != "task")
    return;
  auto entry = state.members.find({greeting.job, greeting.task});
  if (entry == state.members.end() && state.joined) // the list will have it soon
    entry = state.members.try_emplace({greeting.job, greeting.task}).first;
  if (entry == state.members.end())
    return;
  auto& [task, link] = *entry;
  if (state.seeds && ready.inbound)
    state.seeds->expect(link.address);
  if (ready.inbound) {
    // An existing connection is kept, unless it leads to a process that this one has replaced.
    auto is_kept = link.ready ? link.incarnation == greeting.incarnation : link.exchange != nullptr;
    auto exchange = caf::actor_cast<caf::actor>(ready.connection->exchange);
    if (is_kept || !exchange || ready.connection->is_closed)
      return;
    TROUPE_REACHED("a task's own call serves as a link to it");
    // The session must not use parts that it has prepared at the replaced process.
    if (auto watcher = caf::actor_cast<caf::actor>(state.watcher); watcher && link.ready) {
      self->send(watcher, link_lost{task, failure(error_kind::unavailable, task,
                                                  " has been replaced by another process")});
      self->send_exit(link.exchange, caf::exit_reason::user_shutdown);
    }
    link.exchange = std::move(exchange);
  } else if (!link.exchange || link.ready) {
    return;
  } else if (state.joined && ready.connection &&
             link.exchange.address() != ready.connection->exchange) {
    return; // the connection to a seed
  }
  link.ready = true;
  link.last_error = {};
  link.incarnation = greeting.incarnation;
  link.connection = ready.connection;
  answer(self, std::exchange(link.waiting, {}),
         peer_link{task, link.incarnation, link.exchange, link.connection});
}

void handle_peer_gone(membership_self self, const peer_gone& gone) {
  if (self->state.joined) {
    self->state.joined->disconnected(gone);
    self->state.seeds->check_coordinator();
  }
  for (auto& [task, link] : self->state.members)
    if (to_string(task) == gone.peer) {
      // Only the connection that serves as the link counts.
      if (link.ready ? link.connection != gone.connection : gone.inbound)
        continue;
      link.exchange = nullptr;
      link.connection = nullptr;
      if (auto watcher = caf::actor_cast<caf::actor>(self->state.watcher); watcher && link.ready)
        self->send(watcher, link_lost{task, gone.reason});
      // A peer that closes a connection before it has introduced itself may be a process that is
      // ending, or a proxy: another process may be there soon.
      if (!std::exchange(link.ready, false) && gone.reason.kind() == error_kind::unavailable) {
        TROUPE_REACHED("a connection ends before its peer has introduced itself");
        link.last_error = gone.reason;
        refuse_single_attempts(self, link, gone.reason);
        if (!std::exchange(link.dialing, true))
          self->delayed_send(self, pause_between_calls, call_again{task});
        continue;
      }
      refuse(self, link,
             failure(gone.reason.kind() == error_kind::failed_precondition
                         ? gone.reason.kind()
                         : error_kind::unavailable,
                     task, " at ", link.address, ": ", gone.reason.message()));
    }
  if (self->state.joined) // a task without an address is a member only while it is connected
    std::erase_if(self->state.members, [](const auto& entry) { return is_unused(entry.second); });
}

// Ends all connections and calls, and the membership.
void shut_down(membership_self self, const caf::error& reason) {
  self->state.stop_calls();
  refuse_all(self, failure(error_kind::cancelled, "this process or its session is shutting down"));
  for (auto& [task, link] : self->state.members)
    if (link.exchange)
      self->send_exit(link.exchange, reason);
  if (self->state.seeds)
    for (const auto& exchange : self->state.seeds->exchanges())
      self->send_exit(exchange, reason);
  self->state.seeds.reset(); // ends its calls
  self->quit(reason);
}

caf::behavior membership_behavior(membership_self self, membership_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  if (!state.options.incarnations)
    state.options.incarnations = std::make_shared<incarnations>();
  for (const auto& [task, address] : state.options.cluster.known.tasks)
    state.members[task].address = address;
  if (state.options.cluster.polls_source()) {
    subscribe_to_source(self);
    self->delayed_send(self, pause_between_reads, read_again{0});
  }
  if (!state.options.join.seeds.empty())
    start_joining(self);
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& error) -> caf::error {
    auto why = exception_as_error(error);
    refuse_all(self, from_caf(why));
    return why;
  });
  self->set_exit_handler([=](const caf::exit_msg& message) { shut_down(self, message.reason); });
  return {
      [=](const connect_request& request) { return connect(self, request); },
      [=](dial_result& call) { handle_dial_result(self, call); },
      [=](const peer_ready& ready) { handle_peer_ready(self, ready); },
      [=](const peer_gone& gone) { handle_peer_gone(self, gone); },
      [=](wake_atom) { self->state.due.wake(self); },
      [=](const call_again& call) {
        auto& link = self->state.members.at(call.to);
        link.dialing = false;
        if (wants_call(link))
          start_dialing(self, call.to, link);
      },
      [=](const incoming& received) {
        if (const auto* lost_program = std::get_if<program_lost>(&received.content))
          report_lost_part(self, *lost_program, received.owner);
        else if (self->state.joined)
          self->state.joined->handle_message(received);
      },
      [=](const call_seed& due) { self->state.seeds->call(due); },
      [=](waits_report& report) { report_waits_to_task(self, report); },
      [=](joined_tick_atom) {
        self->state.joined->tick();
        self->state.seeds->check_coordinator();
        self->delayed_send(self, joined_tick, joined_tick_atom::value);
      },
      [=](address_update& update) { take_source(self, update); },
      [=](source_changed_atom) { handle_source_change(self); },
      [=](const read_again& due) {
        if (due.reads == self->state.reads)
          read_source(self);
      },
      [=](const membership_owner& owner) { self->state.options.owner = owner.worker; },
      [=](watch_atom) {
        self->state.watcher = caf::actor_cast<caf::actor_addr>(self->current_sender());
        send_task_list(self);
      },
  };
}

} // namespace

caf::actor spawn_membership(caf::actor_system& system, membership_options options) {
  if (!options.transport.open)
    options.transport = socket_transport(
        options.share_io ? io_loop::of(system) : io_loop::own(system), options.trust);
  if (!options.transport.read)
    options.transport.read = read_on_new_thread;
  return options.own_thread ? spawn_control(system, membership_behavior, std::move(options))
                            : system.spawn(membership_behavior, std::move(options));
}

} // namespace troupe
