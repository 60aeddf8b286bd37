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
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace troupe {
namespace {

using on_link = std::function<void(const result<peer_link>&)>;

// Membership -> itself: call that task again.
struct call_again {
  task_name to;
};

// Membership -> itself: read the source of addresses again, unless that was done meanwhile.
struct read_again {
  uint64_t reads;
};

// Membership -> itself: look what is due in a joined cluster.
using joined_tick_atom = caf::atom_constant<caf::atom("jointick")>;

constexpr std::chrono::milliseconds pause_between_calls{100};
constexpr std::chrono::milliseconds joined_tick{500}, longest_probe{3000};
// How long a call is waited for before the task is called from here. It compiles meanwhile, as its
// caller does.
constexpr std::chrono::milliseconds patience_with_caller{1000};
// Who waits for a task has the source read more often than it asks for, but not more often than
// that.
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
  bool once = false; // as in connect_request
};

// What is known of one task.
struct member {
  std::string address;     // empty while the cluster does not have it
  caf::actor exchange;     // none while there is no connection
  bool ready = false;      // the peer has introduced itself
  bool dialing = false;    // or waiting for its call
  bool tries_once = false; // the call that is made now does
  uint64_t incarnation = 0;
  connection_ptr via;
  status last; // why there is no connection
  std::vector<waiting_link> waiting;
  std::shared_ptr<std::atomic<bool>> stop = {}; // ends the call that is made now
};

struct membership_state {
  explicit membership_state() {}
  ~membership_state() { stop_calls(); }
  void stop_calls() {
    for (auto& [task, one] : members)
      if (one.stop)
        *one.stop = true;
  }
  static inline const char* name = "troupe.membership";
  membership_options options;
  deadlines due;
  std::map<task_name, member> members;
  std::unique_ptr<joined_cluster> joined;
  std::unique_ptr<seed_links> seeds; // where the cluster is joined
  std::shared_ptr<const member_list> shown = std::make_shared<member_list>(); // of such a cluster
  caf::actor_addr watcher;       // is told of lost links
  caf::actor_addr told_of_waits; // the exchange with the task that was told last
  bool reading = false;          // the source
  uint64_t reads = 0;
  status source_said; // where it could not be read last
  step_clock::time_point read_at;
};

using membership_self = caf::stateful_actor<membership_state>*;

void answer(membership_self self, std::vector<waiting_link> all, const result<peer_link>& with) {
  for (auto& waits : all) {
    self->state.due.remove(waits.due);
    waits.then(with);
  }
}

// Answers those whose time is over by then.
void refuse(membership_self self, member& one, const status& why,
            step_clock::time_point until = step_clock::time_point::max()) {
  auto stay = std::stable_partition(one.waiting.begin(), one.waiting.end(),
                                    [&](const auto& waits) { return waits.deadline > until; });
  std::vector<waiting_link> over{std::make_move_iterator(stay),
                                 std::make_move_iterator(one.waiting.end())};
  one.waiting.erase(stay, one.waiting.end());
  answer(self, std::move(over), why);
}

// The first failure is the answer to requests that want one attempt.
void refuse_once(membership_self self, member& one, const status& why) {
  auto first = std::stable_partition(one.waiting.begin(), one.waiting.end(),
                                     [](const auto& waits) { return !waits.once; });
  std::vector<waiting_link> over{std::make_move_iterator(first),
                                 std::make_move_iterator(one.waiting.end())};
  one.waiting.erase(first, one.waiting.end());
  answer(self, std::move(over), why);
}

// It ends: nobody is left to wait for it.
void refuse_all(membership_self self, const status& why) {
  for (auto& [task, one] : self->state.members)
    refuse(self, one, status{why}.on_task(to_string(task)));
}

// Dials until the last deadline of those who wait, or once where a request wants that.
void start_dialing(membership_self self, const task_name& to, member& one) {
  one.dialing = true;
  one.tries_once = std::ranges::any_of(one.waiting, &waiting_link::once);
  one.stop = std::make_shared<std::atomic<bool>>(false);
  auto deadline = std::ranges::max_element(one.waiting, {}, &waiting_link::deadline)->deadline;
  dialed call{.to = to,
              .deadline = deadline,
              .outcome = {},
              .socket = {},
              .address = one.address,
              .once = one.tries_once};
  self->state.options.ways.dial(self->system(), std::move(call), one.address, one.stop,
                                caf::actor_cast<caf::actor>(self));
}

bool wants_call(const member& one) {
  return !one.waiting.empty() && !one.address.empty() && !one.exchange && !one.dialing;
}

// Of a task that the cluster does not have, or not any more.
bool is_of_no_use(const member& one) {
  return one.address.empty() && !one.exchange && !one.dialing && one.waiting.empty();
}

void read_source(membership_self self) {
  auto& state = self->state;
  if (state.reading || !state.options.cluster.reads_again())
    return;
  state.reading = true;
  state.options.ways.read(self->system(), state.options.cluster.source,
                          caf::actor_cast<caf::actor>(self));
}

void tell_tasks(membership_self self) {
  auto watcher = caf::actor_cast<caf::actor>(self->state.watcher);
  if (!watcher || !self->state.options.cluster.may_change())
    return;
  tasks_known all;
  for (const auto& [task, address] : self->state.options.cluster.known.tasks)
    all.tasks.push_back(task);
  self->send(watcher, std::move(all));
}

// A call that is made to an address that changes ends soon, and another follows it.
void take_addresses(membership_self self, task_addresses now) {
  auto& state = self->state;
  auto& known = state.options.cluster.known;
  if (now.tasks == known.tasks)
    return;
  known.tasks = std::move(now.tasks);
  if (known.cluster.empty())
    known.cluster = std::move(now.cluster);
  if (state.options.view)
    state.options.view->set(known);
  for (const auto& [task, address] : known.tasks)
    state.members[task];
  for (auto& [task, one] : state.members) {
    auto it = known.tasks.find(task);
    auto address = it == known.tasks.end() ? std::string{} : it->second;
    if (address == one.address)
      continue;
    one.address = std::move(address);
    if (one.stop)
      *one.stop = true;
    if (wants_call(one))
      start_dialing(self, task, one);
  }
  std::erase_if(state.members, [](const auto& entry) { return is_of_no_use(entry.second); });
  tell_tasks(self);
}

void take_source(membership_self self, source_read& what) {
  auto& state = self->state;
  state.reading = false;
  ++state.reads;
  state.read_at = self->clock().now();
  state.source_said = what.says ? status{} : what.says.status();
  if (what.says)
    take_addresses(self, *std::move(what.says));
  auto waits = std::ranges::any_of(state.members, [](const auto& entry) {
    return !entry.second.waiting.empty() && !entry.second.ready;
  });
  auto pause = state.options.cluster.source->read_again();
  if (waits)
    pause = std::min(pause, pause_between_reads);
  self->delayed_send(self, pause, read_again{state.reads});
}

// Of one task, the first that is linked: of two, operators would see all waits twice.
void tell_of_waits(membership_self self, tell_waits& news) {
  auto& state = self->state;
  auto linked = std::ranges::find_if(
      state.members, [](const auto& entry) { return entry.second.ready && entry.second.exchange; });
  auto to = linked == state.members.end() ? caf::actor{} : linked->second.exchange;
  auto before = caf::actor_cast<caf::actor>(
      std::exchange(state.told_of_waits, caf::actor_cast<caf::actor_addr>(to)));
  if (before && before != to)
    self->send(before, outgoing{client_waits{}});
  if (to)
    self->send(to, outgoing{client_waits{std::move(news.waits)}});
}

// A task that is linked cannot run a part of a step any more.
void pass_on(membership_self self, const program_lost& what, const connection_ptr& via) {
  auto& state = self->state;
  auto watcher = caf::actor_cast<caf::actor>(state.watcher);
  auto it = std::ranges::find(state.members, via, [](const auto& one) { return one.second.via; });
  if (watcher && it != state.members.end())
    self->send(watcher, part_lost{it->first, what.handle});
}

status why_not_there(const membership_state& state, const task_name& task, const member& one) {
  const auto& source = state.options.cluster.source;
  if (one.address.empty() && !one.exchange && state.joined)
    return failure(error_kind::not_found, task, " has not joined the cluster in time");
  if (one.address.empty() && !one.exchange && source)
    return failure(error_kind::not_found, source->name(), " has named no task ", task, " in time",
                   state.source_said.ok() ? "" : concat(" (", state.source_said.message(), ")"));
  return failure(error_kind::unavailable, task, " at ", one.address,
                 one.exchange ? " did not introduce itself in time" : " was not there in time",
                 one.last.ok() ? "" : concat(" (", one.last.message(), ")"));
}

// Time is over for some who wait for that task.
void give_up(membership_self self, const task_name& to) {
  auto& members = self->state.members;
  auto it = members.find(to);
  if (it == members.end())
    return;
  refuse(self, it->second, why_not_there(self->state, to, it->second), self->clock().now());
  if (is_of_no_use(it->second))
    members.erase(it);
}

// Calls back at once where the link is there.
void connect(membership_self self, const connect_request& what, on_link then) {
  auto it = self->state.members.find(what.to);
  if (it == self->state.members.end()) {
    if (!self->state.options.cluster.may_change())
      return then(failure(error_kind::not_found, "the cluster has no task ", what.to));
    it = self->state.members.try_emplace(what.to).first;
  }
  auto& one = it->second;
  if (one.ready)
    return then(peer_link{what.to, one.incarnation, one.exchange, one.via});
  auto due = self->state.due.add(self, what.deadline, [=, to = what.to] { give_up(self, to); });
  one.waiting.push_back({std::move(then), what.deadline, due, what.once});
  if (what.once && one.stop && !one.tries_once) // the repeated call ends, and one attempt follows
    *one.stop = true;
  if (self->clock().now() - self->state.read_at >= pause_between_reads)
    read_source(self);
  if (wants_call(one)) {
    // Of two tasks that need each other, the one whose name is less calls.
    if (what.mutual && what.to < self->state.options.self) {
      one.dialing = true;
      self->delayed_send(self, patience_with_caller, call_again{what.to});
    } else {
      start_dialing(self, what.to, one);
    }
  }
}

caf::result<peer_link> connect(membership_self self, const connect_request& what) {
  auto promise = self->make_response_promise<peer_link>();
  connect(self, what, [promise](const result<peer_link>& found) mutable {
    if (found)
      promise.deliver(*found);
    else
      promise.deliver(to_caf(found.status()));
  });
  return promise;
}

caf::actor open(membership_self self, dialed& what, std::optional<task_name> expected) {
  const auto& options = self->state.options;
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = options.role;
  exchange.self.job = options.self.job;
  exchange.self.task = options.self.task;
  exchange.self.incarnation = options.incarnation;
  exchange.expected = std::move(expected);
  exchange.address = what.address;
  exchange.owner = options.owner;
  exchange.opener = self->address();
  exchange.server = options.server;
  exchange.known = options.known;
  exchange.self.cluster = options.cluster.known.cluster;
  exchange.self.access_token = std::move(what.access_token);
  exchange.peer_timeout = options.peer_timeout;
  exchange.near_memory = options.near_memory;
  return options.ways.open(self->system(), what, std::move(exchange));
}

// -- a cluster that is joined

// A link that is there counts: its heartbeat says so.
void reach(membership_self self, const task_name& task, const std::function<void(uint64_t)>& then) {
  connect(self, connect_request{task, self->clock().now() + longest_probe},
          [=](const result<peer_link>& found) { then(found ? found->incarnation : 0); });
}

void tell(membership_self self, std::string_view event, const std::string& text) {
  if (auto* server = self->state.options.server.get())
    server->log().write(log_level::warning, event, {{"text", text}});
}

// For operators.
void show(membership_self self, const member_list& now) {
  auto& state = self->state;
  auto before = std::exchange(state.shown, std::make_shared<member_list>(now));
  if (auto* server = state.options.server.get())
    log_members(server->log(), *before, now);
  if (state.options.view)
    state.options.view->set(state.shown);
}

void join(membership_self self) {
  auto& state = self->state;
  auto& options = state.options;
  state.seeds = std::make_unique<seed_links>(
      self, options.join.seeds, options.join.address,
      seed_links::way{.dial =
                          [=](dialed call, std::shared_ptr<std::atomic<bool>> stop) {
                            auto address = call.address;
                            self->state.options.ways.dial(self->system(), std::move(call), address,
                                                          std::move(stop),
                                                          caf::actor_cast<caf::actor>(self));
                          },
                      .open = [=](dialed& what) { return open(self, what, {}); },
                      .follows = [=] { return self->state.joined->follows(); }});
  state.joined = std::make_unique<joined_cluster>(
      options.join, options.self, options.incarnation,
      join_host{
          .learn = [=](task_addresses now) { take_addresses(self, std::move(now)); },
          .fail =
              [=](const status& why) {
                refuse_all(self, why);
                self->quit(to_caf(why));
              },
          .reach = [=](const task_name& task,
                       const std::function<void(uint64_t)>& then) { reach(self, task, then); },
          .now = [=] { return self->clock().now(); },
          .keep = [=](const std::string& address) { self->state.seeds->keep(address); },
          .expect = [=](const std::string& address) { self->state.seeds->expect(address); },
          .show = [=](const member_list& now) { show(self, now); },
          .tell = [=](std::string_view event, std::string text) { tell(self, event, text); }});
  state.seeds->call_all();
  self->set_down_handler([=](const caf::down_msg& what) { self->state.seeds->lost(what.source); });
  self->delayed_send(self, joined_tick, joined_tick_atom::value);
}

void connected(membership_self self, dialed& what) {
  if (what.to.job.empty())
    return self->state.seeds->connected(what);
  auto& one = self->state.members.at(what.to); // it stays while it is called
  one.dialing = false;
  auto stopped = std::exchange(one.stop, nullptr);
  if (one.exchange) { // it has called meanwhile; this connection is closed before a word is said
    TROUPE_REACHED("a task calls while it is called");
    return;
  }
  if (what.address != one.address || (!what.outcome && stopped && *stopped)) {
    TROUPE_REACHED("a task has another address while it is called");
    if (wants_call(one))
      start_dialing(self, what.to, one);
    return;
  }
  if (!what.outcome) {
    if (auto* server = self->state.options.server.get())
      server->log().write(log_level::warning, "task_unreachable",
                          {{"other", to_string(what.to)},
                           {"address", one.address},
                           {"why", what.outcome.message()}});
    if (what.once)
      refuse_once(self, one, what.outcome);
    else
      refuse(self, one, what.outcome, what.deadline);
    if (!one.waiting.empty()) { // somebody has joined who has more time
      TROUPE_REACHED("a task is dialled again for who has more time");
      start_dialing(self, what.to, one);
    }
    return;
  }
  one.exchange = open(self, what, what.to);
}

void introduced(membership_self self, const peer_ready& what) {
  const auto& who = what.who;
  auto& state = self->state;
  if (state.joined) {
    state.joined->connected(what);
    if (what.via && state.seeds->is_first(what.via->exchange))
      state.joined->reached_first(what.via);
    state.seeds->look();
  }
  if (who.role != "task")
    return;
  auto it = state.members.find({who.job, who.task});
  if (it == state.members.end() && state.joined) // it is in the list soon
    it = state.members.try_emplace({who.job, who.task}).first;
  if (it == state.members.end())
    return;
  auto& one = it->second;
  if (state.seeds && what.inbound)
    state.seeds->expect(one.address);
  if (what.inbound) {
    // What is there already stays, but for that to a process which this one has replaced.
    auto stays = one.ready ? one.incarnation == who.incarnation : one.exchange != nullptr;
    auto exchange = caf::actor_cast<caf::actor>(what.via->exchange);
    if (stays || !exchange || what.via->gone)
      return;
    TROUPE_REACHED("a task's own call serves as a link to it");
    // Of a session: nothing that it has prepared may go on with the process that was replaced.
    if (auto watcher = caf::actor_cast<caf::actor>(state.watcher); watcher && one.ready) {
      self->send(watcher, link_lost{it->first, failure(error_kind::unavailable, it->first,
                                                       " has been replaced by another process")});
      self->send_exit(one.exchange, caf::exit_reason::user_shutdown);
    }
    one.exchange = std::move(exchange);
  } else if (!one.exchange || one.ready) {
    return;
  } else if (state.joined && what.via && one.exchange.address() != what.via->exchange) {
    return; // of a seed
  }
  one.ready = true;
  one.last = {};
  one.incarnation = who.incarnation;
  one.via = what.via;
  answer(self, std::exchange(one.waiting, {}),
         peer_link{it->first, one.incarnation, one.exchange, one.via});
}

void lost(membership_self self, const peer_gone& what) {
  if (self->state.joined) {
    self->state.joined->disconnected(what);
    self->state.seeds->look();
  }
  for (auto& [task, one] : self->state.members)
    if (to_string(task) == what.peer) {
      // Only of the connection that serves as the link.
      if (one.ready ? one.via != what.via : what.inbound)
        continue;
      one.exchange = nullptr;
      one.via = nullptr;
      if (auto watcher = caf::actor_cast<caf::actor>(self->state.watcher); watcher && one.ready)
        self->send(watcher, link_lost{task, what.why});
      // Whoever ends a connection before it has introduced itself may be a process that is going,
      // or a proxy: there may be another soon.
      if (!std::exchange(one.ready, false) && what.why.kind() == error_kind::unavailable) {
        TROUPE_REACHED("a connection ends before its peer has introduced itself");
        one.last = what.why;
        refuse_once(self, one, what.why);
        if (!std::exchange(one.dialing, true))
          self->delayed_send(self, pause_between_calls, call_again{task});
        continue;
      }
      refuse(self, one,
             failure(what.why.kind() == error_kind::failed_precondition ? what.why.kind()
                                                                        : error_kind::unavailable,
                     task, " at ", one.address, ": ", what.why.message()));
    }
  if (self->state.joined) // whoever calls is a member while it does
    std::erase_if(self->state.members,
                  [](const auto& entry) { return is_of_no_use(entry.second); });
}

caf::behavior membership_behavior(membership_self self, membership_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  if (!state.options.known)
    state.options.known = std::make_shared<incarnations>();
  for (const auto& [task, address] : state.options.cluster.known.tasks)
    state.members[task].address = address;
  if (state.options.cluster.reads_again())
    self->delayed_send(self, pause_between_reads, read_again{0});
  if (!state.options.join.seeds.empty())
    join(self);
  self->set_default_handler(caf::drop);
  self->set_exception_handler([=](std::exception_ptr& what) -> caf::error {
    auto why = exception_as_error(what);
    refuse_all(self, from_caf(why));
    return why;
  });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    self->state.stop_calls();
    refuse_all(self, failure(error_kind::cancelled, "this process ends, or its session does"));
    for (auto& [task, one] : self->state.members)
      if (one.exchange)
        self->send_exit(one.exchange, what.reason);
    if (self->state.seeds)
      for (const auto& one : self->state.seeds->exchanges())
        self->send_exit(one, what.reason);
    self->state.seeds.reset(); // its calls end
    self->quit(what.reason);
  });
  return {
      [=](const connect_request& what) { return connect(self, what); },
      [=](dialed& what) { connected(self, what); },
      [=](const peer_ready& what) { introduced(self, what); },
      [=](const peer_gone& what) { lost(self, what); },
      [=](wake_atom) { self->state.due.wake(self); },
      [=](const call_again& what) {
        auto& one = self->state.members.at(what.to);
        one.dialing = false;
        if (wants_call(one))
          start_dialing(self, what.to, one);
      },
      [=](const incoming& what) {
        if (const auto* lost = std::get_if<program_lost>(&what.content))
          pass_on(self, *lost, what.owner);
        else if (self->state.joined)
          self->state.joined->take(what);
      },
      [=](const call_seed& what) { self->state.seeds->call(what); },
      [=](tell_waits& what) { tell_of_waits(self, what); },
      [=](joined_tick_atom) {
        self->state.joined->tick();
        self->state.seeds->look();
        self->delayed_send(self, joined_tick, joined_tick_atom::value);
      },
      [=](source_read& what) { take_source(self, what); },
      [=](const read_again& what) {
        if (what.reads == self->state.reads)
          read_source(self);
      },
      [=](const membership_owner& what) { self->state.options.owner = what.worker; },
      [=](watch_atom) {
        self->state.watcher = caf::actor_cast<caf::actor_addr>(self->current_sender());
        tell_tasks(self);
      },
  };
}

} // namespace

caf::actor spawn_membership(caf::actor_system& system, membership_options options) {
  if (!options.ways.open)
    options.ways = usual_ways(io_loop::make(), options.trust);
  if (!options.ways.read)
    options.ways.read = read_on_a_thread;
  return options.own_thread ? spawn_control(system, membership_behavior, std::move(options))
                            : system.spawn(membership_behavior, std::move(options));
}

} // namespace troupe
