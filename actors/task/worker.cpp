#include "troupe/actors/task/worker.hpp"

#include "troupe/actors/base/background_executor.hpp"
#include "troupe/actors/base/caf_internals.hpp"
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

constexpr std::chrono::seconds connect_timeout{10};
// The limit of one connection on graphs that wait for compilation.
constexpr size_t max_registering = 1024;
// Instances that no step has used for this time, or twice this time at most, are destroyed.
constexpr std::chrono::seconds idle_timeout{10};
// The period of checks for overdue steps.
constexpr std::chrono::milliseconds expiry_period{250};

// Worker -> itself: destroy idle instances. No answer.
using tidy_atom = caf::atom_constant<caf::atom("tidy")>;
// Worker -> itself, step server -> worker: end steps whose deadlines have passed. No answer.
using expire_atom = caf::atom_constant<caf::atom("expire")>;

struct worker_state {
  explicit worker_state() {}
  static inline const char* name = "troupe.worker";
  std::shared_ptr<step_server> server;
  std::shared_ptr<resources> state;
  std::shared_ptr<const program_compiler> compiler;
  std::shared_ptr<const task_inspector> inspector;
  std::function<void()> on_drain;
  caf::actor background_executor, membership;
  // The owner of programs that a master in this process registers.
  connection_ptr local_owner = std::make_shared<peer_connection>();
  bool tidy_scheduled = false; // a tidy_atom is under way, as long as there are programs
  std::map<step_id, caf::typed_response_promise<step_result>> local_steps;
};

using worker_self = caf::stateful_actor<worker_state>*;

// -- programs ------------------------------------------------------------------------------------

void tidy_later(worker_self self) {
  auto& state = self->state;
  if (!std::exchange(state.tidy_scheduled, state.server->programs().size() > 0) &&
      state.tidy_scheduled)
    self->delayed_send(self, idle_timeout, tidy_atom::value);
}

void tidy(worker_self self) {
  self->state.server->programs().shrink();
  self->state.tidy_scheduled = false;
  tidy_later(self);
}

using on_registered = std::function<void(result<registered>)>;
using program_ptr = std::shared_ptr<task_program>;

// Connects to the tasks that a program sends to, and then links the program.
void connect_peers(worker_self self, const program_ptr& program, uint64_t handle,
                   const connection_ptr& owner, on_registered then) {
  struct progress {
    progress(size_t link_count, on_registered on_end)
        : links(link_count), missing(link_count), reply(std::move(on_end)) {}
    std::vector<peer_link> links;
    size_t missing;
    bool failed = false;
    on_registered reply;
  };
  auto progress_state = std::make_shared<progress>(program->peers().size(), std::move(then));
  auto fail = [=](const task_name& peer, status why) {
    if (std::exchange(progress_state->failed, true))
      return;
    const auto& self_name = self->state.server->self();
    self->state.server->programs().erase(handle, *owner);
    progress_state->reply(std::move(why)
                              .with_task(to_string(self_name))
                              .with_context(concat(self_name, " cannot reach ", peer)));
  };
  for (size_t i = 0; i < program->peers().size(); ++i) {
    auto peer = program->peers()[i];
    self->request(self->state.membership, connect_timeout + std::chrono::seconds{1},
                  connect_request{peer, self->clock().now() + connect_timeout,
                                  program->receives_from(peer)})
        .then(
            [=](const peer_link& link) {
              auto expected = program->expected_incarnation(peer);
              if (expected != 0 && link.incarnation != expected)
                return fail(peer, failure(error_kind::unavailable,
                                          "it has been restarted: prepare the step again"));
              progress_state->links[i] = link;
              if (--progress_state->missing > 0 || progress_state->failed)
                return;
              // Fails if the owner's connection has ended meanwhile.
              if (!self->state.server->programs().link(handle, progress_state->links)) {
                TROUPE_REACHED("a program's owner is gone before the program is linked");
                return progress_state->reply(
                    failure(error_kind::aborted, "the program was dropped"));
              }
              progress_state->reply(registered{handle, program});
            },
            [=](const caf::error& why) {
              // Not deadline_exceeded: the deadline of the step may be later.
              fail(peer, why == caf::sec::request_timeout
                             ? failure(error_kind::unavailable, "no connection within ",
                                       connect_timeout.count(), " s")
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

// `parts` runs on the background executor's thread, and returns the partitions to register.
template <class Parts>
void register_programs(worker_self self, Parts parts, const connection_ptr& owner,
                       on_registered then) {
  run_in_background(
      self, self->state.background_executor,
      [=, compiler = self->state.compiler]() -> result<program_ptr> {
        if (owner->is_closed)
          return failure(error_kind::aborted, owner->peer, " is gone");
        TROUPE_ASSIGN(auto registration, parts());
        return compiler->compile(*registration, owner);
      },
      [=](result<program_ptr> compiled) { keep_program(self, std::move(compiled), owner, then); });
}

caf::result<registered> register_here(worker_self self, const register_request& request) {
  auto promise = self->make_response_promise<registered>();
  register_programs(
      self, [=]() -> result<register_request> { return request; }, self->state.local_owner,
      [=](result<registered> outcome) mutable {
        if (outcome)
          promise.deliver(*std::move(outcome));
        else
          promise.deliver(to_caf(outcome.status()));
      });
  return promise;
}

caf::result<step_result> run_here(worker_self self, run_request& request) {
  auto promise = self->make_response_promise<step_result>();
  auto step = request.step;
  self->state.local_steps.emplace(step, promise);
  self->state.server->begin(
      std::move(request), self->state.local_owner,
      [worker = caf::actor_cast<caf::actor>(self), &system = self->system(),
       step](step_result result) {
        caf::actor_cast<caf::abstract_actor*>(worker)->eq_impl(
            caf::make_message_id(), nullptr, inline_unit::current(system),
            background_ended{step, std::move(result)});
      },
      // Regions run on kernel threads, or briefly on a connection's, never on the scheduler's.
      inline_unit::current(self->system()));
  return promise;
}

// -- requests of other tasks ---------------------------------------------------------------------

std::vector<device_info> list_devices(worker_self self) {
  std::vector<device_info> devices;
  for (const auto& owned : self->state.compiler->devices())
    devices.push_back({.name = to_string(owned.name),
                       .kind = std::string{to_string(owned.device->kind())},
                       .memory_bytes = owned.device->memory_limit(),
                       .description = owned.device->description()});
  return devices;
}

state_list list_state_here(worker_self self) {
  return self->state.state->list(to_string(self->state.server->self()));
}

result<task_positions> positions_here(worker_self self, const connection_ptr& owner,
                                      uint64_t session, const kernel_positions& restore_from) {
  const auto& server = *self->state.server;
  TROUPE_ASSIGN(auto positions,
                self->state.server->programs().positions(owner, session, restore_from));
  return task_positions{to_string(server.self()), server.incarnation(), std::move(positions)};
}

void log_registration(step_server& server, const peer_connection& owner,
                      const result<registered>& outcome) {
  if (!server.log())
    return;
  if (outcome)
    server.log().write(log_level::info, "program_registered",
                       {{"owner", owner.peer},
                        {"program", static_cast<int64_t>(outcome->handle)},
                        {"devices", static_cast<int64_t>(outcome->program->programs().size())},
                        {"regions", static_cast<int64_t>(outcome->program->regions())}});
  else
    server.log().write(log_level::warning, "program_refused",
                       {{"owner", owner.peer}, {"why", outcome.status().message()}});
}

inspect_reply inspect_here(worker_self self, const inspect_request& request) {
  const auto* inspector = self->state.inspector.get();
  auto build_tree = [&]() -> result<tensor> {
    if (!inspector)
      return failure(error_kind::unimplemented, self->state.server->self(), " cannot be inspected");
    TROUPE_ASSIGN(auto ref, inspection_ref::parse(request.ref));
    auto depth = static_cast<int>(std::min<uint32_t>(request.depth, inspection_limits::depth));
    TROUPE_ASSIGN(auto tree, inspector->inspect(ref, {depth, request.only}));
    return to_bytes(tree);
  };
  auto bytes = build_tree();
  if (!bytes)
    return {request.request, bytes.status()};
  return {request.request, {}, *std::move(bytes)};
}

void serve_register(worker_self self, register_graph&& request, const incoming& from) {
  const auto& server = *self->state.server;
  auto name = to_string(server.self());
  auto reply = [=, to = from.from, request = request.request](uint64_t handle, status outcome) {
    self->send(to, outgoing{register_reply{request, handle,
                                           std::move(outcome).with_task(name).with_context(name)}});
  };
  if (request.settings.incarnation != 0 && request.settings.incarnation != server.incarnation())
    return reply(0, failure(error_kind::unavailable, "it has been restarted"));
  if (auto refused = server.refusal(); !refused)
    return reply(0, std::move(refused));
  if (from.owner->registering.fetch_add(1, std::memory_order_relaxed) >= max_registering) {
    from.owner->registering.fetch_sub(1, std::memory_order_relaxed);
    return reply(0, failure(error_kind::resource_exhausted, max_registering, " graphs of ",
                            from.owner->peer, " wait to be compiled already"));
  }
  // Waiting graphs hold all their constants; they count as programs only when they are compiled.
  if (auto* account = from.owner->account.get();
      account && !acquire_slot(account->registering, account->rights.programs)) {
    from.owner->registering.fetch_sub(1, std::memory_order_relaxed);
    return reply(0, failure(error_kind::resource_exhausted, "client '", account->name, "' has ",
                            account->rights.programs,
                            " graphs that wait to be compiled, which is its limit"));
  }
  auto graphs = std::make_shared<register_graph>(std::move(request));
  register_programs(
      self, [=, compiler = self->state.compiler] { return compiler->read(*graphs); }, from.owner,
      [=, owner = from.owner, to = from.from](const result<registered>& outcome) {
        owner->registering.fetch_sub(1, std::memory_order_relaxed);
        if (owner->account)
          owner->account->registering.fetch_sub(1, std::memory_order_relaxed);
        log_registration(*self->state.server, *owner, outcome);
        if (!outcome)
          return reply(0, outcome.status());
        reply(outcome->handle, {});
        // A loss before this reply could not name the handle.
        if (self->state.server->programs().is_lost(outcome->handle))
          self->send(to, outgoing{program_lost{outcome->handle}});
      });
}

void serve(worker_self self, incoming& request) {
  auto& state = self->state;
  auto answer = [&](message content) { self->send(request.from, outgoing{std::move(content)}); };
  if (auto* graph_request = std::get_if<register_graph>(&request.content)) {
    serve_register(self, std::move(*graph_request), request);
  } else if (auto* drop = std::get_if<deregister_graph>(&request.content)) {
    state.server->programs().erase(drop->handle, *request.owner);
  } else if (auto* reset = std::get_if<container_reset>(&request.content)) {
    state.state->reset(reset->container);
    state.server->log().write(log_level::info, "container_reset",
                              {{"container", reset->container}, {"by", request.owner->peer}});
    answer(reply{reset->request, {}});
  } else if (auto* client_report = std::get_if<client_waits>(&request.content)) {
    request.owner->waits.set(std::move(client_report->waits));
  } else if (auto* end_request = std::get_if<initialization_end>(&request.content)) {
    state.server->end_initialization(*request.owner, end_request->done);
    answer(reply{end_request->request, {}});
  } else if (auto* list = std::get_if<device_list_request>(&request.content)) {
    answer(device_list_reply{list->request, list_devices(self)});
  } else if (auto* list_request = std::get_if<state_list_request>(&request.content)) {
    answer(state_list_reply{list_request->request, list_state_here(self)});
  } else if (auto* inspection_request = std::get_if<inspect_request>(&request.content)) {
    answer(inspect_here(self, *inspection_request));
  } else if (auto* drain_order = std::get_if<drain_request>(&request.content)) {
    state.server->log().write(log_level::info, "drain_requested", {{"by", request.owner->peer}});
    auto was_draining = state.server->draining();
    state.server->drain();
    answer(reply{drain_order->request, {}});
    if (state.on_drain && !was_draining)
      state.on_drain();
  } else if (auto* position_request = std::get_if<positions_request>(&request.content)) {
    auto positions = positions_here(self, request.owner, position_request->session,
                                    position_request->restored_positions);
    answer(positions ? positions_reply{position_request->request,
                                       positions->incarnation,
                                       {},
                                       std::move(positions->positions)}
                     : positions_reply{position_request->request, state.server->incarnation(),
                                       positions.status()});
  }
}

// Ends all steps and waits: a waiting step keeps its actors alive, and a queue keeps its waiting
// step alive.
void shut_down(worker_self self) {
  auto& state = self->state;
  auto why = failure(error_kind::unavailable, state.server->self(), " shuts down");
  state.server->close(why);
  for (auto& [step, promise] : std::exchange(state.local_steps, {}))
    promise.deliver(step_result{why, {}});
  state.state->close();
  self->send_exit(state.background_executor, caf::exit_reason::user_shutdown);
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
  for (const auto& device : options.devices) {
    device_name name{parts.self.job, parts.self.task, std::string{to_string(device->kind())},
                     device->ordinal()};
    auto thread = options.launch_threads && device->as_accelerator()
                      ? std::make_shared<launch_thread>(self->system())
                      : nullptr;
    parts.devices.push_back({std::move(name), device, std::move(thread)});
  }
  if (has_threads(self->system())) {
    if (options.kernel_threads > 0)
      parts.kernels = std::make_shared<kernel_threads>(
          self->system(),
          kernel_threads::options{.max_threads = options.kernel_threads,
                                  .spins = options.membership != nullptr,
                                  .handles_messages = options.kernels_handle_messages});
    parts.low_priority = std::make_shared<low_priority_threads>(
        self->system(),
        parts.kernels ? parts.kernels->max_threads() : self->system().scheduler().num_workers());
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
  state.background_executor = spawn_background_executor(self->system());
  state.local_owner->peer = "this process";
  self->set_default_handler(caf::drop);
  end_on_exceptions(self);
  self->set_exit_handler([=](const caf::exit_msg& exit_message) {
    shut_down(self);
    self->quit(exit_message.reason);
  });
  return {
      [=](run_request& request) { return run_here(self, request); },
      [=](const settle_request& request) { return self->state.server->settle(request.step); },
      [=](background_ended& end) {
        if (auto position = self->state.local_steps.find(end.step);
            position != self->state.local_steps.end()) {
          position->second.deliver(std::move(end.result));
          self->state.local_steps.erase(position);
        }
      },
      [=](incoming& message_of_peer) { serve(self, message_of_peer); },
      [=](outgoing& request) { // the master is in this process
        self->state.server->serve(request.content, self->state.local_owner,
                                  caf::actor_cast<caf::actor>(self), nullptr);
      },
      [=](const register_request& request) { return register_here(self, request); },
      [=](expire_atom atom) {
        if (self->state.server->expire())
          self->delayed_send(self, expiry_period, atom);
      },
      [=](tidy_atom) { tidy(self); },
      [](const health_check& check) { check.answer(); },
      [=](const forget_program& request) {
        self->state.server->programs().erase(request.handle, *self->state.local_owner);
      },
      [=](list_devices_atom) { return list_devices(self); },
      [=](const list_state&) { return list_state_here(self); },
      [=](const ask_positions& request) -> caf::result<task_positions> {
        auto positions =
            positions_here(self, self->state.local_owner, request.session, request.restore_from);
        if (!positions)
          return to_caf(positions.status());
        return *std::move(positions);
      },
      [=](const reset_request& request) {
        self->state.state->reset(request.container);
        return status{};
      },
  };
}

} // namespace

caf::actor spawn_worker(caf::actor_system& system, worker_options options) {
  auto server = options.server;
  auto worker = options.own_thread ? spawn_control(system, worker_behavior, std::move(options))
                                   : system.spawn(worker_behavior, std::move(options));
  // Set now, because a connection may bring a step before the worker has begun.
  server->when_busy([address = worker.address()] {
    if (auto receiver = caf::actor_cast<caf::actor>(address))
      caf::anon_send(receiver, expire_atom::value);
  });
  return worker;
}

} // namespace troupe
