#include "troupe/actors/task/worker.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/clerk.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/launch_thread.hpp"
#include "troupe/actors/execution/low_priority_threads.hpp"
#include "troupe/actors/task/program_compiler.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/actors/task/task_inspector.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace troupe {
namespace {

constexpr std::chrono::seconds connect_patience{10};
// Graphs of one connection that wait to be compiled.
constexpr size_t max_registering = 1024;
// Instances that no step has used for that long go, or for twice that long at most.
constexpr std::chrono::seconds idle_patience{10};
// How often a worker looks for steps that are overdue.
constexpr std::chrono::milliseconds expiry_period{250};

// Worker -> itself: time to look for idle instances. No answer.
using tidy_atom = caf::atom_constant<caf::atom("tidy")>;
// Worker -> itself, step server -> worker: time to look for steps whose deadlines have passed. No
// answer.
using expire_atom = caf::atom_constant<caf::atom("expire")>;

struct worker_state {
  explicit worker_state() {}
  static inline const char* name = "troupe.worker";
  std::shared_ptr<step_server> server;
  std::shared_ptr<resources> state;
  std::shared_ptr<const program_compiler> compiler;
  std::shared_ptr<const task_inspector> inspector;
  std::function<void()> on_drain;
  caf::actor clerk, membership;
  connection_ptr here = std::make_shared<peer_connection>(); // a master in this process
  bool tidies = false; // a tidy_atom is under way, as long as there are programs
  std::map<step_id, caf::typed_response_promise<step_result>> asked;
};

using worker_self = caf::stateful_actor<worker_state>*;

// -- programs ------------------------------------------------------------------------------------

void tidy_later(worker_self self) {
  auto& state = self->state;
  if (!std::exchange(state.tidies, state.server->programs().size() > 0) && state.tidies)
    self->delayed_send(self, idle_patience, tidy_atom::value);
}

void tidy(worker_self self) {
  self->state.server->programs().shrink();
  self->state.tidies = false;
  tidy_later(self);
}

using on_registered = std::function<void(result<registered>)>;
using program_ptr = std::shared_ptr<task_program>;

// Reaches the tasks that a program sends to, so that it may run.
void connect_peers(worker_self self, const program_ptr& program, uint64_t handle,
                   const connection_ptr& owner, on_registered then) {
  struct progress {
    progress(size_t n, on_registered f) : links(n), missing(n), reply(std::move(f)) {}
    std::vector<peer_link> links;
    size_t missing;
    bool failed = false;
    on_registered reply;
  };
  auto state = std::make_shared<progress>(program->peers().size(), std::move(then));
  auto fail = [=](const task_name& peer, status why) {
    if (std::exchange(state->failed, true))
      return;
    const auto& here = self->state.server->self();
    self->state.server->programs().erase(handle, *owner);
    state->reply(
        std::move(why).on_task(to_string(here)).within(concat(here, " cannot reach ", peer)));
  };
  for (size_t i = 0; i < program->peers().size(); ++i) {
    auto peer = program->peers()[i];
    self->request(self->state.membership, connect_patience + std::chrono::seconds{1},
                  connect_request{peer, self->clock().now() + connect_patience,
                                  program->hears_from(peer)})
        .then(
            [=](const peer_link& link) {
              auto expected = program->expected(peer);
              if (expected != 0 && link.incarnation != expected)
                return fail(peer, failure(error_kind::unavailable,
                                          "it has been restarted: prepare the step again"));
              state->links[i] = link;
              if (--state->missing > 0 || state->failed)
                return;
              if (!self->state.server->programs().link(
                      handle, state->links)) { // its owner has left meanwhile
                TROUPE_REACHED("a program's owner leaves before the program is linked");
                return state->reply(failure(error_kind::aborted, "the program was dropped"));
              }
              state->reply(registered{handle, program});
            },
            [=](const caf::error& why) {
              // The step's own time may not be over: it is the peer that is missing.
              fail(peer, why == caf::sec::request_timeout
                             ? failure(error_kind::unavailable, "no connection within ",
                                       connect_patience.count(), " s")
                             : from_caf(why));
            });
  }
}

void keep_program(worker_self self, result<program_ptr> compiled, const connection_ptr& owner,
                  on_registered then) {
  if (!compiled)
    return then(compiled.status());
  auto program = *std::move(compiled);
  auto alone = program->peers().empty();
  auto handle = self->state.server->programs().add(program, owner, alone);
  if (!handle)
    return then(handle.status());
  tidy_later(self);
  if (alone)
    return then(registered{*handle, program});
  connect_peers(self, program, *handle, owner, std::move(then));
}

// `parts` gives what is to be registered, on the clerk's thread.
template <class Parts>
void register_programs(worker_self self, Parts parts, const connection_ptr& owner,
                       on_registered then) {
  leave_to(
      self, self->state.clerk,
      [=, compiler = self->state.compiler]() -> result<program_ptr> {
        if (owner->gone)
          return failure(error_kind::aborted, owner->peer, " is gone");
        TROUPE_ASSIGN(auto what, parts());
        return compiler->compile(*what, owner);
      },
      [=](result<program_ptr> made) { keep_program(self, std::move(made), owner, then); });
}

caf::result<registered> register_here(worker_self self, const register_request& what) {
  auto promise = self->make_response_promise<registered>();
  register_programs(
      self, [=]() -> result<register_request> { return what; }, self->state.here,
      [=](result<registered> done) mutable {
        if (done)
          promise.deliver(*std::move(done));
        else
          promise.deliver(to_caf(done.status()));
      });
  return promise;
}

caf::result<step_result> run_here(worker_self self, run_request& what) {
  auto promise = self->make_response_promise<step_result>();
  auto step = what.step;
  self->state.asked.emplace(step, promise);
  self->state.server->begin(
      std::move(what), self->state.here,
      [to = caf::actor_cast<caf::actor>(self), &system = self->system(), step](step_result result) {
        caf::actor_cast<caf::abstract_actor*>(to)->eq_impl(
            caf::make_message_id(), nullptr, inline_unit::here(system),
            background_ended{step, std::move(result)});
      },
      // Regions run on kernel threads, or briefly on a connection's, never on the scheduler's.
      inline_unit::here(self->system()));
  return promise;
}

// -- what other tasks ask for --------------------------------------------------------------------

std::vector<device_info> list_devices(worker_self self) {
  std::vector<device_info> all;
  for (const auto& one : self->state.compiler->devices())
    all.push_back({.name = to_string(one.name),
                   .kind = std::string{to_string(one.runs->kind())},
                   .memory_bytes = one.runs->memory_limit(),
                   .description = one.runs->description()});
  return all;
}

state_list list_state_here(worker_self self) {
  return self->state.state->list(to_string(self->state.server->self()));
}

result<task_positions> positions_here(worker_self self, const connection_ptr& owner,
                                      uint64_t session, const kernel_positions& go_on_from) {
  const auto& server = *self->state.server;
  TROUPE_ASSIGN(auto found, self->state.server->programs().positions(owner, session, go_on_from));
  return task_positions{to_string(server.self()), server.incarnation(), std::move(found)};
}

void log_registration(step_server& server, const peer_connection& owner,
                      const result<registered>& done) {
  if (!server.log())
    return;
  if (done)
    server.log().write(log_level::info, "program_registered",
                       {{"owner", owner.peer},
                        {"program", static_cast<int64_t>(done->handle)},
                        {"devices", static_cast<int64_t>(done->program->programs().size())},
                        {"regions", static_cast<int64_t>(done->program->regions())}});
  else
    server.log().write(log_level::warning, "program_refused",
                       {{"owner", owner.peer}, {"why", done.status().message()}});
}

inspect_reply inspect_here(worker_self self, const inspect_request& what) {
  const auto* inspector = self->state.inspector.get();
  auto look = [&]() -> result<tensor> {
    if (!inspector)
      return failure(error_kind::unimplemented, self->state.server->self(), " cannot be inspected");
    TROUPE_ASSIGN(auto ref, inspection_ref::parse(what.ref));
    auto depth = static_cast<int>(std::min<uint32_t>(what.depth, inspection_limits::depth));
    TROUPE_ASSIGN(auto found, inspector->inspect(ref, {depth, what.only}));
    return to_bytes(found);
  };
  auto tree = look();
  if (!tree)
    return {what.request, tree.status()};
  return {what.request, {}, *std::move(tree)};
}

void serve_register(worker_self self, register_graph&& what, const incoming& from) {
  const auto& server = *self->state.server;
  auto name = to_string(server.self());
  auto reply = [=, to = from.from, request = what.request](uint64_t handle, status outcome) {
    self->send(to, outgoing{register_reply{request, handle,
                                           std::move(outcome).on_task(name).within(name)}});
  };
  if (what.how.incarnation != 0 && what.how.incarnation != server.incarnation())
    return reply(0, failure(error_kind::unavailable, "it has been restarted"));
  if (auto open = server.refusal(); !open)
    return reply(0, std::move(open));
  if (from.owner->registering.fetch_add(1, std::memory_order_relaxed) >= max_registering) {
    from.owner->registering.fetch_sub(1, std::memory_order_relaxed);
    return reply(0, failure(error_kind::resource_exhausted, max_registering, " graphs of ",
                            from.owner->peer, " wait to be compiled already"));
  }
  // Those that wait have all their constants, and count when they are compiled.
  if (auto* account = from.owner->account.get();
      account && !take_one(account->registering, account->rights.programs)) {
    from.owner->registering.fetch_sub(1, std::memory_order_relaxed);
    return reply(0, failure(error_kind::resource_exhausted, "client '", account->name, "' has ",
                            account->rights.programs,
                            " graphs that wait to be compiled, as many as it may register"));
  }
  auto graphs = std::make_shared<register_graph>(std::move(what));
  register_programs(
      self, [=, compiler = self->state.compiler] { return compiler->read(*graphs); }, from.owner,
      [=, owner = from.owner, to = from.from](const result<registered>& done) {
        owner->registering.fetch_sub(1, std::memory_order_relaxed);
        if (owner->account)
          owner->account->registering.fetch_sub(1, std::memory_order_relaxed);
        log_registration(*self->state.server, *owner, done);
        if (!done)
          return reply(0, done.status());
        reply(done->handle, {});
        if (self->state.server->programs().is_lost(done->handle)) // its owner knew no handle yet
          self->send(to, outgoing{program_lost{done->handle}});
      });
}

void serve(worker_self self, incoming& what) {
  auto& state = self->state;
  auto answer = [&](message with) { self->send(what.from, outgoing{std::move(with)}); };
  if (auto* one = std::get_if<register_graph>(&what.content)) {
    serve_register(self, std::move(*one), what);
  } else if (auto* drop = std::get_if<deregister_graph>(&what.content)) {
    state.server->programs().erase(drop->handle, *what.owner);
  } else if (auto* reset = std::get_if<container_reset>(&what.content)) {
    state.state->reset(reset->container);
    state.server->log().write(log_level::info, "container_reset",
                              {{"container", reset->container}, {"by", what.owner->peer}});
    answer(reply{reset->request, {}});
  } else if (auto* waiting = std::get_if<client_waits>(&what.content)) {
    what.owner->waits.set(std::move(waiting->waits));
  } else if (auto* filled = std::get_if<fill_end>(&what.content)) {
    state.server->end_fill(*what.owner, filled->done);
    answer(reply{filled->request, {}});
  } else if (auto* list = std::get_if<device_list_request>(&what.content)) {
    answer(device_list_reply{list->request, list_devices(self)});
  } else if (auto* look = std::get_if<state_list_request>(&what.content)) {
    answer(state_list_reply{look->request, list_state_here(self)});
  } else if (auto* seen = std::get_if<inspect_request>(&what.content)) {
    answer(inspect_here(self, *seen));
  } else if (auto* order = std::get_if<drain_request>(&what.content)) {
    state.server->log().write(log_level::info, "drain_requested", {{"by", what.owner->peer}});
    auto again = state.server->draining();
    state.server->drain();
    answer(reply{order->request, {}});
    if (state.on_drain && !again)
      state.on_drain();
  } else if (auto* where = std::get_if<positions_request>(&what.content)) {
    auto found = positions_here(self, what.owner, where->session, where->go_on_from);
    answer(found ? positions_reply{where->request, found->incarnation, {}, std::move(found->at)}
                 : positions_reply{where->request, state.server->incarnation(), found.status()});
  }
}

// Nothing may wait any more: a step that does keeps its actors, and its queues keep the step.
void leave(worker_self self) {
  auto& state = self->state;
  auto why = failure(error_kind::unavailable, state.server->self(), " shuts down");
  state.server->close(why);
  for (auto& [step, promise] : std::exchange(state.asked, {}))
    promise.deliver(step_result{why, {}});
  state.state->close();
  self->send_exit(state.clerk, caf::exit_reason::user_shutdown);
}

std::shared_ptr<const program_compiler> make_compiler(worker_self self,
                                                      const worker_options& options) {
  program_compiler::parts parts{.system = &self->system(),
                                .self = options.server->self(),
                                .ops = options.ops,
                                .devices = {},
                                .regions = options.regions,
                                .deterministic = options.deterministic,
                                .state = self->state.state,
                                .server = options.server};
  for (const auto& one : options.devices) {
    device_name name{parts.self.job, parts.self.task, std::string{to_string(one->kind())},
                     one->ordinal()};
    auto launches = options.launch_threads && one->as_accelerator()
                        ? std::make_shared<launch_thread>(self->system())
                        : nullptr;
    parts.devices.push_back({std::move(name), one, std::move(launches)});
  }
  if (has_threads(self->system())) {
    if (options.kernel_threads > 0)
      parts.kernels = std::make_shared<kernel_threads>(
          self->system(),
          kernel_threads::options{.most = options.kernel_threads,
                                  .looks = options.membership != nullptr,
                                  .handles_messages = options.kernels_handle_messages});
    parts.low_priority = std::make_shared<low_priority_threads>(
        self->system(),
        parts.kernels ? parts.kernels->most() : self->system().scheduler().num_workers());
  }
  return std::make_shared<program_compiler>(std::move(parts));
}

caf::behavior worker_behavior(worker_self self, const worker_options& options) {
  auto& state = self->state;
  state.server = options.server;
  state.membership = options.membership;
  state.inspector = options.inspector;
  state.on_drain = options.on_drain;
  state.state = options.state ? options.state : std::make_shared<resources>(self->system());
  state.compiler = make_compiler(self, options);
  state.clerk = spawn_clerk(self->system());
  state.here->peer = "this process";
  self->set_default_handler(caf::drop);
  end_with_exceptions(self);
  self->set_exit_handler([=](const caf::exit_msg& what) {
    leave(self);
    self->quit(what.reason);
  });
  return {
      [=](run_request& what) { return run_here(self, what); },
      [=](const settle_request& what) { return self->state.server->settle(what.step); },
      [=](background_ended& what) {
        if (auto it = self->state.asked.find(what.step); it != self->state.asked.end()) {
          it->second.deliver(std::move(what.result));
          self->state.asked.erase(it);
        }
      },
      [=](incoming& what) { serve(self, what); },
      [=](outgoing& what) { // the master is in this process
        self->state.server->serve(what.content, self->state.here, caf::actor_cast<caf::actor>(self),
                                  nullptr);
      },
      [=](const register_request& what) { return register_here(self, what); },
      [=](expire_atom what) {
        if (self->state.server->expire())
          self->delayed_send(self, expiry_period, what);
      },
      [=](tidy_atom) { tidy(self); },
      [](const knock& what) { what.answer(); },
      [=](const forget_program& what) {
        self->state.server->programs().erase(what.handle, *self->state.here);
      },
      [=](list_devices_atom) { return list_devices(self); },
      [=](const list_state&) { return list_state_here(self); },
      [=](const ask_positions& what) -> caf::result<task_positions> {
        auto found = positions_here(self, self->state.here, what.session, what.go_on_from);
        if (!found)
          return to_caf(found.status());
        return *std::move(found);
      },
      [=](const reset_request& what) {
        self->state.state->reset(what.container);
        return status{};
      },
  };
}

} // namespace

caf::actor spawn_worker(caf::actor_system& system, worker_options options) {
  auto server = options.server;
  auto worker = options.own_thread ? spawn_control(system, worker_behavior, std::move(options))
                                   : system.spawn(worker_behavior, std::move(options));
  // Before anything may come, which may be before the worker has begun.
  server->when_busy([address = worker.address()] {
    if (auto to = caf::actor_cast<caf::actor>(address))
      caf::anon_send(to, expire_atom::value);
  });
  return worker;
}

} // namespace troupe
