#include "troupe/api/server.hpp"

#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/task.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/client_options.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/reject.hpp"

namespace troupe {
namespace {

[[noreturn]] void refuse(status why, std::source_location where) {
  throw error{std::move(why).within(concat("server::start (", to_string(where), ")"))};
}

status check_durations(const server_options& what) {
  using namespace std::chrono_literals;
  TROUPE_TRY(check_duration("join_patience", what.join_patience, 1ms));
  TROUPE_TRY(check_duration("fill_before_serving", what.fill_before_serving.value_or(0ms)));
  TROUPE_TRY(check_duration("memory.gpu_idle", what.memory.gpu_idle));
  return check_peer_timeout(what.cluster.peer_timeout);
}

} // namespace

struct server::state {
  std::unique_ptr<task> running;
};

server::server(std::unique_ptr<state> made) : state_(std::move(made)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;
server::~server() = default;

// As the public functions, for all that says where tasks are.
struct server::starter {
  static server start(cluster_access cluster, const server_options& options, location where);
};

server server::start(std::string_view cluster, const server_options& options, location where) {
  auto found = find_cluster(cluster);
  if (!found)
    refuse(found.status(), where);
  if (auto knows = knows_tasks(*found); !knows)
    refuse(std::move(knows), where);
  return starter::start(*std::move(found), options, where);
}

server server::start(const cluster_spec& cluster, const server_options& options, location where) {
  return starter::start(cluster, options, where);
}

server server::starter::start(cluster_access cluster, const server_options& options,
                              location where) {
  task_options to;
  to.ops = &library();
  to.make_devices = [chosen = to_device_choice(options.threads, options.memory, options.gpu)] {
    return make_devices(chosen);
  };
  if (auto may = check_durations(options); !may)
    refuse(std::move(may), where);
  auto self = self_in(cluster, options.job, options.task);
  if (!self)
    refuse(self.status(), where);
  to.self = *std::move(self);
  if (!options.task && !cluster.source && cluster.seeds.empty())
    to.self.task = 0; // there are constant addresses, and nobody gives numbers
  to.cluster = std::move(cluster);
  to.access = options.access;
  to.hosting = options.hosting;
  to.fill_before_serving = options.fill_before_serving;
  to.listen = options.listen;
  to.advertise = options.advertise;
  to.join_patience = options.join_patience;
  to.tls = options.cluster.tls;
  to.insecure = options.cluster.insecure;
  to.inter_op_threads = options.threads.inter_op;
  to.peer_timeout = options.cluster.peer_timeout;
  to.deterministic = options.deterministic;
  to.gpu_launch_threads = options.gpu.launch_threads;
  to.near_memory = options.cluster.near_memory;
  to.on_failure = options.on_failure;
  to.on_log = options.on_log;
  to.on_drain = options.on_drain;
  to.http = options.http;
  to.http_anywhere = options.http_anywhere;
  auto made = task::start(std::move(to));
  if (!made)
    refuse(made.status(), where);
  return server{std::make_unique<state>(state{*std::move(made)})};
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

size_t server::drain(std::chrono::milliseconds patience, location where) {
  need_state("server::drain", where, state_ != nullptr, "server");
  if (auto may = check_duration("patience", patience); !may)
    throw error{std::move(may).within(concat("drain (", to_string(where), ")"))};
  return state_->running->drain(patience).steps;
}

} // namespace troupe
