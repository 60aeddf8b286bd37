#include "troupe/actors/operator/task.hpp"

#include "troupe/actors/base/dispatch_cost.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/supervisor.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/hosting/session_host.hpp"
#include "troupe/actors/membership/claim_number.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/operator/operator_port.hpp"
#include "troupe/actors/task/link_stats.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/actors/task/worker.hpp"
#include "troupe/runtime/insight/event_log.hpp"

#include "troupe/runtime/version.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"
#include "troupe/serialization/tls/tls.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <thread>

namespace troupe {
namespace {

// Calls the hook with the first failure only.
class failure_hook {
public:
  explicit failure_hook(std::function<void(const status&)> hook) : hook_(std::move(hook)) {}
  void call(const status& why) {
    if (!called_.exchange(true) && hook_)
      hook_(why);
  }

private:
  std::atomic<bool> called_{false};
  const std::function<void(const status&)> hook_;
};

// Closes the log when it is destroyed.
struct log_closer {
  ~log_closer() {
    if (log)
      log->close();
  }
  std::shared_ptr<event_log> log;
};

// Returns the address at which other tasks reach the task, which listens at `port`.
result<std::string> address_for_others(const task_options& options, const address& listen_address,
                                       uint16_t port) {
  if (!options.advertise.empty())
    return options.advertise;
  if (listen_address.host == "0.0.0.0" || listen_address.host == "::")
    return invalid("a task that listens at all addresses of its machine needs the address at "
                   "which other tasks reach it: set advertise to one of them");
  return to_string(address{listen_address.host, port});
}

size_t count_busy_connections(step_server& server) {
  size_t busy = 0;
  for (const auto& connection : server.connections().open())
    busy += !link_stats_of(*connection).drained;
  return busy;
}

result<connection_trust> load_trust(const task_options& options) {
  connection_trust trust{.tls = {}, .insecure = options.insecure};
  if (!options.tls.empty()) {
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = options.cluster.known.cluster,
                                                 .self = options.self,
                                                 .on_warning = options.on_warning}));
  }
  return trust;
}

// The part of the membership's options that follows from the task's options.
membership_options membership_options_of(const task_options& options) {
  membership_options membership;
  membership.cluster = options.cluster;
  membership.role = "task";
  membership.self = options.self;
  membership.peer_timeout = options.peer_timeout;
  membership.same_host_reads = options.same_host_reads;
  membership.own_thread = true;
  return membership;
}

// The same for the worker. Moves `on_drain` out of the options.
worker_options worker_options_of(task_options& options, caf::actor_system& system) {
  auto threads = count_threads(options.inter_op_threads);
  worker_options worker;
  worker.ops = options.ops;
  worker.on_drain = std::move(options.on_drain);
  worker.regions = region_options_for(system, threads);
  worker.deterministic = options.deterministic;
  worker.launch_threads = options.gpu_launch_threads;
  worker.own_thread = true;
  worker.kernel_threads = threads;
  return worker;
}

// The same for the exchanges with peers that connect to the task. Reads the access list.
result<exchange_options> exchange_options_of(const task_options& options,
                                             const address& listen_address) {
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "task";
  exchange.self.job = options.self.job;
  exchange.self.task = options.self.task;
  exchange.self.cluster = options.cluster.known.cluster;
  exchange.address = to_string(listen_address);
  exchange.peer_timeout = options.peer_timeout;
  exchange.same_host_reads = options.same_host_reads;
  exchange.on_warning = options.on_warning;
  if (!options.access_list.empty()) {
    TROUPE_ASSIGN(exchange.access_control,
                  access_control::load(options.access_list, options.on_warning));
  }
  return exchange;
}

void log_start(event_log& log, const task& started, const std::string& address) {
  log.write(log_level::info, "task_started",
            {{"address", address},
             {"http_port", int64_t{started.http_port()}},
             {"incarnation", std::to_string(started.incarnation())},
             {"version", std::string{library_version}}});
}

class running_task final : public task {
public:
  // Two threads for actors. Kernels have other threads (worker_options::kernel_threads).
  running_task() : config_(2, true), system_(config_) {}

  ~running_task() override {
    announced_ = nullptr; // first, so that other tasks soon see that this task ends
    operators_ = nullptr;
    if (host_) // before the exchanges of its clients end
      host_->close();
    if (server_)
      server_->log().write(log_level::info, "task_stopping");
    for (auto& actor : {supervisor_, listener_, membership_, worker_})
      if (actor)
        caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    if (server_)
      server_->close(failure(error_kind::unavailable, "the task shuts down"));
    supervisor_ = listener_ = membership_ = worker_ = nullptr;
  }

  // Closes the log when the task has ended, after which the hook is not called any more.
  void own_log(const std::shared_ptr<event_log>& log) { log_.log = log; }

  status start(task_options& options, const address& listen_address,
               std::shared_ptr<event_log> log) {
    TROUPE_ASSIGN(auto listening, listen_at(listen_address));
    port_ = listening.second;
    auto fail = std::make_shared<failure_hook>(std::move(options.on_failure));
    TROUPE_ASSIGN(auto join, enter_cluster(options, listen_address, fail));
    self_ = options.self;
    log->set_task(to_string(self_));
    TROUPE_ASSIGN(auto devices, options.make_devices());
    server_ = std::make_shared<step_server>(options.self, incarnation_, clock_of(system_),
                                            std::move(log));
    if (options.initialize_before_serving)
      server_->initialization().await(server_->now(), *options.initialize_before_serving);
    state_ = std::make_shared<resources>(system_);
    auto known = std::make_shared<incarnations>();
    auto loop = io_loop::of(system_);
    TROUPE_ASSIGN(auto trust, load_trust(options));
    view_ = std::make_shared<cluster_view>(options.cluster.known);
    auto membership = membership_options_of(options);
    membership.incarnation = incarnation_;
    membership.server = server_;
    membership.incarnations = known;
    membership.transport = socket_transport(loop, trust);
    membership.view = view_;
    membership.join = std::move(join);
    membership_ = spawn_membership(system_, std::move(membership));
    const auto address_text = to_string(address{listen_address.host, port_});
    auto inspector = std::make_shared<task_inspector>(task_inspector::parts{.address = address_text,
                                                                            .server = server_,
                                                                            .state = state_,
                                                                            .devices = devices,
                                                                            .cluster = view_});
    host_ = make_host(options, trust, devices);
    auto worker = worker_options_of(options, system_);
    worker.devices = std::move(devices);
    worker.membership = membership_;
    worker.server = server_;
    worker.state = state_;
    worker.inspector = inspector;
    worker_ = spawn_worker(system_, std::move(worker));
    caf::anon_send(membership_, membership_owner{worker_});
    TROUPE_ASSIGN(auto exchange, exchange_options_of(options, listen_address));
    exchange.self.incarnation = incarnation_;
    exchange.owner = worker_;
    exchange.opener = membership_.address();
    exchange.server = server_;
    exchange.incarnations = known;
    exchange.loop = loop;
    exchange.tls = trust.tls;
    exchange.session_handler = host_;
    TROUPE_ASSIGN(listener_,
                  spawn_listener(system_, listening.first.release(), std::move(exchange)));
    watch_actors(fail);
    if (!options.http.empty())
      TROUPE_TRY(open_operator_port(options, std::move(inspector)));
    log_start(server_->log(), *this, address_text);
    return {};
  }

  task_name self() const override { return self_; }
  uint16_t port() const noexcept override { return port_; }
  uint64_t incarnation() const noexcept override { return incarnation_; }
  uint16_t http_port() const noexcept override { return operators_ ? operators_->port() : 0; }

  drain_result drain(std::chrono::milliseconds patience) override {
    if (!server_->draining())
      server_->log().write(log_level::info, "drain_began",
                           {{"steps", static_cast<int64_t>(server_->in_flight())}});
    server_->drain();
    // Steps end on many threads, which should not have to notify this one, so it polls.
    constexpr std::chrono::milliseconds period{10};
    constexpr std::chrono::hours century{100 * 365 * 24}; // the clock cannot count much further
    auto end = std::chrono::steady_clock::now() +
               std::clamp<std::chrono::milliseconds>(patience, period * 0, century);
    for (;;) {
      // Steps before connections: an answer is sent before its step has ended.
      auto steps = host_->in_flight() + server_->in_flight();
      drain_result left{steps, count_busy_connections(*server_)};
      if (left.none() || std::chrono::steady_clock::now() >= end)
        return left;
      std::this_thread::sleep_for(period);
    }
  }

private:
  // A hosted session is a client of this task, as of other tasks, with this task's certificate.
  std::shared_ptr<session_host> make_host(const task_options& options,
                                          const connection_trust& trust,
                                          const std::vector<std::shared_ptr<device>>& devices) {
    client_options session;
    session.ops = options.ops;
    session.make_devices = [devices] { return devices; };
    session.peer_timeout = options.peer_timeout;
    session.same_host_reads = options.same_host_reads;
    session.insecure = options.insecure;
    server_->hosted().limit = options.hosting.sessions;
    return session_host::make({.limits = options.hosting,
                               .session = std::move(session),
                               .server = server_,
                               .view = view_,
                               .may_change = options.cluster.may_change(),
                               .trust = trust});
  }

  // Joins the cluster, or announces the task at its source, and sets the number of the task. The
  // result is empty in a cluster without seeds.
  result<join_options> enter_cluster(task_options& options, const address& listen_address,
                                     const std::shared_ptr<failure_hook>& fail) {
    if (!options.cluster.seeds.empty())
      return join(options, listen_address);
    if (options.cluster.source && options.cluster.source->takes_announcements())
      TROUPE_TRY(announce(options, listen_address, fail));
    return join_options{};
  }

  // Reports the first actor that ends before the task does.
  void watch_actors(const std::shared_ptr<failure_hook>& fail) {
    supervisor_ = spawn_supervisor(
        system_,
        {{concat("the worker of ", self_), worker_},
         {concat("the membership of ", self_), membership_},
         {concat("the listener of ", self_), listener_}},
        [server = server_, fail](const status& why) {
          server->log().write(log_level::error, "task_failed", {{"why", why.message()}});
          fail->call(why);
        });
  }

  // Announces this task at a source that stores the addresses of tasks, such as etcd.
  status announce(task_options& options, const address& listen_address,
                  const std::shared_ptr<failure_hook>& fail) {
    TROUPE_ASSIGN(auto address, address_for_others(options, listen_address, port_));
    TROUPE_ASSIGN(announced_, options.cluster.source->announce(
                                  {.claim = {options.self.job, options.self.task, incarnation_,
                                             std::move(address)},
                                   .timeout = options.join_timeout,
                                   .is_cancelled = options.give_up,
                                   .on_lost = [fail](const status& why) { fail->call(why); }}));
    options.self = announced_->grant().task;
    incarnation_ = announced_->grant().incarnation;
    return {};
  }

  // Requests a number for this task, or the confirmation of the number that it has.
  result<join_options> join(task_options& options, const address& listen_address) {
    TROUPE_ASSIGN(auto address, address_for_others(options, listen_address, port_));
    join_options joining{.seeds = options.cluster.seeds,
                         .address = std::move(address),
                         .times = options.member_times,
                         .succession = options.vote_times};
    if (joining.coordinates()) {
      if (options.self.task < 0)
        return invalid("the task at ", joining.address,
                       ", the first seed, assigns the numbers of the other tasks; give it its "
                       "own number");
      return joining;
    }
    connection_trust trust{.tls = {}, .insecure = options.insecure};
    if (!options.tls.empty()) { // without options.self: the task has no number yet
      TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                   .cluster = options.cluster.known.cluster,
                                                   .on_warning = options.on_warning}));
    }
    claim_options claim{
        .seeds = joining.seeds,
        .claim = {options.self.job, options.self.task, incarnation_, joining.address},
        .cluster = options.cluster.known.cluster,
        .patience = options.join_timeout,
        .peer_timeout = options.peer_timeout,
        .give_up = options.give_up,
        .transport = socket_transport(io_loop::of(system_), trust)};
    TROUPE_ASSIGN(auto granted, claim_number(system_, std::move(claim)));
    options.self = granted.task;
    incarnation_ = granted.incarnation;
    joining.follows_coordinator = granted.coordinator_address == joining.address;
    return joining;
  }

  status open_operator_port(const task_options& options,
                            std::shared_ptr<const task_inspector> inspector) {
    TROUPE_ASSIGN(auto parsed, address::parse(options.http));
    if (!is_loopback(parsed.host) && !options.http_allow_remote && !options.insecure)
      return failure(error_kind::failed_precondition, options.self, " would serve HTTP at ",
                     options.http,
                     ", to all who reach it; serve it on loopback, or allow it with "
                     "--http-allow-remote");
    if (!is_loopback(parsed.host))
      options.on_warning(concat(options.self, " serves HTTP at ", options.http,
                                " without encryption: all who reach it see what it runs"));
    operator_port::parts parts;
    parts.self = options.self;
    parts.cluster = view_;
    parts.inspector = std::move(inspector);
    parts.inspect_others = [this](tasks_question question,
                                  std::function<void(task_inspections)> then) {
      inspect_tasks(system_, membership_, std::move(question), std::move(then));
    };
    parts.readiness_error = [server = server_] { return server->refusal().message(); };
    parts.check_health = [worker = worker_](std::function<void()> answer) {
      caf::anon_send(worker, health_check{std::move(answer)});
    };
    TROUPE_ASSIGN(operators_, operator_port::open(parsed, std::move(parts)));
    return {};
  }

  log_closer log_; // closes after all actors have ended
  system_config config_;
  caf::actor_system system_;
  std::shared_ptr<step_server> server_;
  std::shared_ptr<resources> state_;
  std::shared_ptr<cluster_view> view_;
  std::shared_ptr<session_host> host_;
  caf::actor listener_, membership_, worker_, supervisor_;
  uint64_t incarnation_ = new_incarnation(std::chrono::system_clock::now());
  uint16_t port_ = 0;
  task_name self_;
  std::unique_ptr<announcement> announced_;
  std::unique_ptr<operator_port> operators_;
};

} // namespace

result<std::unique_ptr<task>> task::start(task_options options) {
  if (!options.ops || !options.make_devices)
    return invalid("a task needs ops and devices");
  TROUPE_TRY(check_names_tasks(options.cluster));
  auto log = std::make_shared<event_log>(to_string(options.self), std::move(options.on_log));
  options.on_warning = [log, on_warning = std::move(options.on_warning)](const std::string& text) {
    log->write(log_level::warning, "warning", {{"text", text}});
    if (on_warning)
      on_warning(text);
  };
  if (!options.access_list.empty() && options.tls.empty())
    return failure(error_kind::failed_precondition, options.self, " has the access list ",
                   options.access_list,
                   ", but no TLS, so no client proves its identity; give it a certificate, a key "
                   "and an authority");
  auto listen = options.listen;
  const auto& source = options.cluster.source;
  if (listen.empty() &&
      (!options.cluster.seeds.empty() || (source && source->takes_announcements())))
    return invalid("a task that joins a cluster needs an address to listen at");
  if (listen.empty()) {
    TROUPE_ASSIGN(listen, address_of(options.cluster.known, options.self));
  }
  TROUPE_ASSIGN(auto parsed, address::parse(listen));
  if (!is_loopback(parsed.host) && options.tls.empty()) {
    if (!options.insecure)
      return failure(
          error_kind::failed_precondition, options.self, " would listen at ", listen,
          " without encryption; give it a certificate, a key and an authority, listen on "
          "loopback, or allow it with --insecure");
    options.on_warning(concat(options.self, " listens at ", listen,
                              " without encryption: all who reach it control it"));
  }
  auto started = std::make_unique<running_task>();
  started->own_log(log);
  TROUPE_TRY(started->start(options, parsed, std::move(log)));
  return std::unique_ptr<task>{std::move(started)};
}

} // namespace troupe
