#include "troupe/actors/session/session.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/dispatch_cost.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/session/awaited_tasks.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/actors/task/worker.hpp"
#include "troupe/serialization/tls/tls.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

using devices = std::vector<std::shared_ptr<device>>;

// Returns the CPU device, which folds constants while steps are compiled.
std::shared_ptr<device> host_of(const devices& candidates) {
  auto host = std::ranges::find(candidates, device_kind::cpu,
                                [](const auto& candidate) { return candidate->kind(); });
  return host == candidates.end() ? nullptr : *host;
}

struct session_state {
  explicit session_state() {}
  session_state(const session_state&) = delete;
  session_state& operator=(const session_state&) = delete;
  // Ends the owned actors, also when the last reference to this actor is dropped: timers keep the
  // membership and the master alive.
  ~session_state() {
    for (const auto& actor : owned)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }
  static inline const char* name = "troupe.session";
  caf::actor master;
  std::vector<caf::actor> owned; // end with the session
  std::shared_ptr<void> kept;
};

using session_self = caf::stateful_actor<session_state>*;

caf::behavior session_behavior(session_self self, const caf::actor& master,
                               const std::vector<caf::actor>& owned,
                               const std::shared_ptr<void>& kept) {
  self->state.master = master;
  self->state.owned = owned;
  self->state.kept = kept;
  self->set_default_handler(caf::drop);
  return {
      [=](step_request& request) { return self->delegate(self->state.master, std::move(request)); },
      [=](prepare_request& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](explain_request& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](end_initialization& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](reset_request& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](list_state& request) { return self->delegate(self->state.master, std::move(request)); },
      [=](survey_state& request) { return self->delegate(self->state.master, std::move(request)); },
      [=](ask_positions& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](list_devices_atom request) { return self->delegate(self->state.master, request); },
      [=](survey_devices& request) {
        return self->delegate(self->state.master, std::move(request));
      },
      [=](known_devices_atom request) { return self->delegate(self->state.master, request); },
  };
}

// The master's options that all kinds of sessions set.
master_options master_of(const client_options& options, const node_times* measured,
                         const devices& own_devices) {
  return {.session = options.session ? options.session : random_id(),
          .container = options.container,
          .programs = options.programs,
          .measured = measured,
          .devices = {},
          .passes = options.passes,
          .host = options.passes.fold ? host_of(own_devices) : nullptr,
          .workers = {},
          .membership = {},
          .on_warning = options.on_warning,
          .lost_state = options.lost_state};
}

} // namespace

caf::actor spawn_session_actor(caf::actor_system& system, const caf::actor& master,
                               const std::vector<caf::actor>& owned,
                               const std::shared_ptr<void>& kept) {
  return system.spawn(session_behavior, master, owned, kept);
}

namespace {

status http_of_cluster_error() {
  return invalid("http is served by local sessions; the tasks of a cluster serve it themselves "
                 "(troupe worker --http)");
}

// Checks the address before the task is created.
result<address> port_address(const client_options& options) {
  TROUPE_ASSIGN(auto parsed, address::parse(options.http));
  if (!is_loopback(parsed.host) && !options.http_allow_remote)
    return failure(
        error_kind::failed_precondition, "the session would serve HTTP at ", options.http,
        ", to all who reach it; serve it on loopback, or allow it with http_allow_remote");
  return parsed;
}

} // namespace

result<caf::actor> spawn_local_session(caf::actor_system& system, const client_options& options,
                                       const node_times* measured, local_port* port) {
  if (!options.ops || !options.make_devices)
    return invalid("a local session needs ops and devices");
  std::optional<address> serves_at;
  if (!options.http.empty()) {
    if (!options.open_port)
      return invalid("a local session that serves http needs open_port");
    TROUPE_ASSIGN(serves_at, port_address(options));
  }
  TROUPE_ASSIGN(auto own_devices, options.make_devices());
  auto master = master_of(options, measured, own_devices);
  // A kernel may hold its thread for as long as a step may run, so actors have other threads.
  auto threads = has_threads(system) ? count_threads(options.inter_op_threads) : 0;
  worker_options worker{.ops = options.ops,
                        .devices = {},
                        .membership = {},
                        .server = std::make_shared<step_server>(local_task, 0, clock_of(system)),
                        .state = std::make_shared<resources>(system),
                        .regions = region_options_for(
                            system, threads > 0 ? threads : system.scheduler().num_workers()),
                        .launch_threads = options.gpu_launch_threads,
                        .kernel_threads = threads,
                        .kernels_handle_messages = port != nullptr};
  for (auto& device : own_devices) {
    master.devices.push_back({local_task.job, local_task.task,
                              std::string{to_string(device->kind())}, device->ordinal()});
    if (auto& memory = master.passes.swap.memory; device->kind() == device_kind::gpu)
      memory = memory ? std::min(memory, device->memory_limit()) : device->memory_limit();
    worker.devices.push_back(std::move(device));
  }
  auto worker_actor = spawn_worker(system, worker);
  master.workers.emplace(local_task, worker_actor);
  auto session = master.session;
  auto master_actor = spawn_master(system, std::move(master));
  auto owned = {master_actor, worker_actor};
  if (!serves_at)
    return spawn_session_actor(system, master_actor, owned);
  local_task_parts parts{.server = worker.server,
                         .state = worker.state,
                         .devices = worker.devices,
                         .check_health = [worker_actor](std::function<void()> answer) {
                           caf::anon_send(worker_actor, health_check{std::move(answer)});
                         }};
  auto opened = options.open_port(*serves_at, parts);
  if (!opened) {
    for (const auto& actor : owned)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    return opened.status();
  }
  if (port)
    *port = {opened->port, session, worker.server};
  return spawn_session_actor(system, master_actor, owned, opened->server);
}

result<caf::actor> spawn_cluster_session(caf::actor_system& system, const cluster_access& cluster,
                                         const client_options& options, const node_times* measured,
                                         const membership_transport* transport,
                                         const link_times* links) {
  if (!options.http.empty())
    return http_of_cluster_error();
  devices own_devices;
  if (options.make_devices) {
    TROUPE_ASSIGN(own_devices, options.make_devices());
  }
  connection_trust trust{.tls = {}, .insecure = options.insecure, .on_warning = options.on_warning};
  if (!options.tls.empty()) {
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = cluster.known.cluster,
                                                 .self = {},
                                                 .on_warning = options.on_warning}));
  }
  auto master = master_of(options, measured, own_devices);
  master.links = links;
  master.patience = std::min<std::chrono::milliseconds>(options.timeout, std::chrono::seconds{10});
  // Other devices of a task are listed when a node needs one.
  std::vector<task_name> tasks;
  for (const auto& [task, address] : cluster.known.tasks)
    tasks.push_back(task);
  master.may_change = cluster.may_change();
  master.jobs_are_final = cluster.jobs_are_final();
  if (tasks.empty() && !master.may_change)
    return invalid("the cluster has no tasks");
  take_tasks(master.devices, tasks);
  master.membership =
      spawn_membership(system, {.cluster = cluster,
                                .role = "client",
                                .self = {},
                                .incarnation = master.session,
                                .peer_timeout = options.peer_timeout,
                                .owner = {},
                                .server = nullptr,
                                .incarnations = {},
                                .transport = transport ? *transport : membership_transport{},
                                .trust = std::move(trust),
                                .same_host_reads = options.same_host_reads,
                                .share_io = options.share_io,
                                .join = {.seeds = cluster.seeds}});
  auto membership = master.membership;
  auto master_actor = spawn_master(system, std::move(master));
  return spawn_session_actor(system, master_actor, {master_actor, membership});
}

} // namespace troupe
