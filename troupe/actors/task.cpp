#include "troupe/actors/task.hpp"

#include "troupe/actors/dial.hpp"
#include "troupe/actors/dispatch_cost.hpp"
#include "troupe/actors/exchange.hpp"
#include "troupe/actors/io_loop.hpp"
#include "troupe/actors/membership.hpp"
#include "troupe/actors/random_id.hpp"
#include "troupe/actors/step_server.hpp"
#include "troupe/actors/supervisor.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/actors/worker.hpp"

#include "troupe/runtime/version.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

namespace troupe {
namespace {

class running_task final : public task {
public:
  running_task(size_t threads) : config_(threads, true), system_(config_) {}

  ~running_task() override {
    for (auto& one : {supervisor_, listener_, membership_, worker_})
      if (one)
        caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    if (server_)
      server_->close(failure(error_kind::unavailable, "the task shuts down"));
    supervisor_ = listener_ = membership_ = worker_ = nullptr;
  }

  status start(task_options& options, const address& at) {
    TROUPE_ASSIGN(auto listening, listen_at(at));
    port_ = listening.second;
    TROUPE_ASSIGN(auto devices, options.make_devices());
    server_ = std::make_shared<step_server>(options.self, incarnation_, clock_of(system_));
    auto known = std::make_shared<incarnations>();
    auto loop = io_loop::make();
    membership_ = spawn_membership(system_, {.cluster = options.cluster,
                                             .role = "task",
                                             .self = options.self,
                                             .incarnation = incarnation_,
                                             .peer_timeout = options.peer_timeout,
                                             .owner = {},
                                             .server = server_,
                                             .known = known,
                                             .ways = usual_ways(loop),
                                             .near_memory = options.near_memory,
                                             .own_thread = true});
    worker_options worker{.ops = options.ops,
                          .devices = std::move(devices),
                          .membership = membership_,
                          .server = server_,
                          .regions = cut_for(system_),
                          .deterministic = options.deterministic,
                          .launch_threads = options.gpu_launch_threads,
                          .own_thread = true};
    worker_ = spawn_worker(system_, std::move(worker));
    caf::anon_send(membership_, membership_owner{worker_});
    exchange_options exchange;
    exchange.self.software = library_version;
    exchange.self.role = "task";
    exchange.self.job = options.self.job;
    exchange.self.task = options.self.task;
    exchange.self.incarnation = incarnation_;
    exchange.address = to_string(at);
    exchange.owner = worker_;
    exchange.opener = membership_.address();
    exchange.server = server_;
    exchange.self.cluster = options.cluster.name;
    exchange.peer_timeout = options.peer_timeout;
    exchange.known = known;
    exchange.near_memory = options.near_memory;
    exchange.loop = loop;
    listener_ = spawn_listener(system_, listening.first.release(), std::move(exchange));
    supervisor_ = spawn_supervisor(system_,
                                   {{concat("the worker of ", options.self), worker_},
                                    {concat("the membership of ", options.self), membership_},
                                    {concat("the listener of ", options.self), listener_}},
                                   std::move(options.on_failure));
    return {};
  }

  uint16_t port() const noexcept override { return port_; }
  uint64_t incarnation() const noexcept override { return incarnation_; }

private:
  system_config config_;
  caf::actor_system system_;
  std::shared_ptr<step_server> server_;
  caf::actor listener_, membership_, worker_, supervisor_;
  uint64_t incarnation_ = new_incarnation(std::chrono::system_clock::now());
  uint16_t port_ = 0;
};

} // namespace

result<std::unique_ptr<task>> task::start(task_options options) {
  if (!options.ops || !options.make_devices)
    return invalid("a task needs ops and devices");
  auto listen = options.listen;
  if (listen.empty()) {
    TROUPE_ASSIGN(listen, address_of(options.cluster, options.self));
  }
  TROUPE_ASSIGN(auto at, address::parse(listen));
  if (!is_loopback(at.host) && !options.insecure)
    return failure(error_kind::failed_precondition, options.self, " would listen at ", listen,
                   " without encryption; listen on loopback, or allow it with --insecure");
  auto made = std::make_unique<running_task>(options.inter_op_threads);
  TROUPE_TRY(made->start(options, at));
  return std::unique_ptr<task>{std::move(made)};
}

} // namespace troupe
