#include "troupe/api/server.hpp"
// Starts one task of a cluster in this process.

#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/task.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/client_options.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/reject.hpp"

namespace troupe {
namespace {

[[noreturn]] void refuse(status cause, std::source_location where) {
  throw error{std::move(cause).with_context(concat("server::start (", to_string(where), ")"))};
}

status check_durations(const server_options& options) {
  using namespace std::chrono_literals;
  TROUPE_TRY(check_duration("join_timeout", options.join_timeout, 1ms));
  TROUPE_TRY(
      check_duration("initialize_before_serving", options.initialize_before_serving.value_or(0ms)));
  TROUPE_TRY(check_duration("memory.gpu_idle_timeout", options.memory.gpu_idle_timeout));
  TROUPE_TRY(check_duration("gpu.watchdog", options.gpu.watchdog));
  return check_peer_timeout(options.cluster.peer_timeout);
}

} // namespace

struct server::state {
  std::unique_ptr<task> running;
};

server::server(std::unique_ptr<state> initial_state) : state_(std::move(initial_state)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;
server::~server() = default;

// Implements the public start functions for every kind of cluster description.
struct server::starter {
  static server start(cluster_access cluster, const server_options& options, location where);
};

server server::start(std::string_view cluster, const server_options& options, location where) {
  auto access = find_cluster(cluster);
  if (!access)
    refuse(access.status(), where);
  if (auto outcome = check_names_tasks(*access); !outcome)
    refuse(std::move(outcome), where);
  return starter::start(*std::move(access), options, where);
}

server server::start(const cluster_spec& cluster, const server_options& options, location where) {
  return starter::start(cluster, options, where);
}

server server::starter::start(cluster_access cluster, const server_options& options,
                              location where) {
  task_options settings;
  settings.ops = &library();
  settings.make_devices = [chosen = to_device_choice(options.threads, options.memory,
                                                     options.gpu)] { return make_devices(chosen); };
  if (auto valid = check_durations(options); !valid)
    refuse(std::move(valid), where);
  auto self = own_task(cluster, options.job, options.task);
  if (!self)
    refuse(self.status(), where);
  settings.self = *std::move(self);
  if (!options.task && !cluster.source && cluster.seeds.empty())
    settings.self.task = 0; // the addresses are fixed, and the cluster assigns no index
  settings.cluster = std::move(cluster);
  settings.access_list = options.access;
  settings.hosting = options.hosting;
  settings.initialize_before_serving = options.initialize_before_serving;
  settings.listen = options.listen;
  settings.advertise = options.advertise;
  settings.join_timeout = options.join_timeout;
  settings.tls = options.cluster.tls;
  settings.insecure = options.cluster.insecure;
  settings.inter_op_threads = options.threads.inter_op;
  settings.peer_timeout = options.cluster.peer_timeout;
  settings.deterministic = options.deterministic;
  settings.gpu_launch_threads = options.gpu.launch_threads;
  settings.same_host_reads = options.cluster.same_host_reads;
  settings.on_failure = options.on_failure;
  settings.on_log = options.on_log;
  settings.on_drain = options.on_drain;
  settings.http = options.http;
  settings.http_allow_remote = options.http_allow_remote;
  auto running = task::start(std::move(settings));
  if (!running)
    refuse(running.status(), where);
  return server{std::make_unique<state>(state{*std::move(running)})};
}

task_name server::self() const {
  need_state("server::self", location::current(), state_ != nullptr, "server");
  return state_->running->self();
}
uint16_t server::port() const noexcept { return state_ ? state_->running->port() : 0; }
uint16_t server::http_port() const noexcept { return state_ ? state_->running->http_port() : 0; }
uint64_t server::incarnation() const noexcept {
  return state_ ? state_->running->incarnation() : 0;
}

size_t server::drain(std::chrono::milliseconds timeout, location where) {
  need_state("server::drain", where, state_ != nullptr, "server");
  if (auto valid = check_duration("timeout", timeout); !valid)
    throw error{std::move(valid).with_context(concat("server::drain (", to_string(where), ")"))};
  return state_->running->drain(timeout).steps;
}

} // namespace troupe
