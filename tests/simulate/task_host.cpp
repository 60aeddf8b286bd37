#include "tests/simulate/task_host.hpp"

#include "tests/simulate/ledger.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/random_id.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/actors/worker.hpp"
#include "troupe/runtime/version.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

namespace troupe::simulate {
namespace {

// What a task may take to end.
constexpr std::chrono::seconds end_patience{2};
// A membership wakes now and then.
constexpr size_t own_timers = 0;

struct listener_state {
  explicit listener_state() {}
  std::set<caf::actor_addr> exchanges;
};

// As what accepts at a socket (troupe/actors/listener.cpp).
caf::behavior listener_behavior(caf::stateful_actor<listener_state>* self, network* in, process* at,
                                const std::shared_ptr<exchange_options>& options) {
  self->set_default_handler(caf::drop);
  self->set_down_handler(
      [=](const caf::down_msg& what) { self->state.exchanges.erase(what.source); });
  self->set_exit_handler([=](const caf::exit_msg& what) {
    for (const auto& one : self->state.exchanges)
      if (auto exchange = caf::actor_cast<caf::actor>(one))
        self->send_exit(exchange, what.reason);
    self->quit(what.reason);
  });
  return {
      [=](const accepted& what) {
        auto exchange = in->open_accepted(what.wire, *at, *options);
        self->monitor(exchange);
        self->state.exchanges.insert(exchange.address());
      },
  };
}

} // namespace

task_host::task_host(core& of, network& in, ledger& book, const cluster_spec& cluster,
                     task_name self, size_t index)
    : core_(of), network_(in), ledger_(book), cluster_(cluster), self_(std::move(self)),
      index_(index) {}

std::unique_ptr<task_host> task_host::split(size_t host) {
  auto old = std::make_unique<task_host>(core_, network_, ledger_, cluster_, self_, index_);
  std::swap(old->incarnation_, incarnation_);
  std::swap(old->devices_, devices_);
  std::swap(old->process_, process_);
  std::swap(old->server_, server_);
  std::swap(old->listener_, listener_);
  std::swap(old->membership_, membership_);
  std::swap(old->worker_, worker_);
  old->set_short_of_memory(false); // its shortage ends with that of its successor, or before
  network_.move(*old->process_, concat(to_string(self_), " old ", ++splits_), host);
  return old;
}

void task_host::start() {
  incarnation_ =
      new_incarnation(std::chrono::system_clock::time_point{core_.now.time_since_epoch()});
  ledger_.started(index_, incarnation_);
  process_ = std::make_unique<process>(to_string(self_), index_, network_);
  process_->enter(core_.now);
  process_->loop()->ticks = looks_for_silence;
  devices_.push_back(std::make_shared<simulated_device>(core_, index_, incarnation_));
  auto& system = process_->system();
  server_ = std::make_shared<step_server>(self_, incarnation_, clock_of(system));
  auto known = std::make_shared<incarnations>();
  std::chrono::milliseconds peer_timeout{core_.with.peer_timeout_ms};
  membership_ = spawn_membership(system, {.cluster = cluster_,
                                          .role = "task",
                                          .self = self_,
                                          .incarnation = incarnation_,
                                          .peer_timeout = peer_timeout,
                                          .owner = {},
                                          .server = server_,
                                          .known = known,
                                          .ways = network_.ways(*process_),
                                          .own_thread = true});
  // Regions are not cut for what a message costs here: that takes real time.
  worker_options worker{.ops = &ledger::ops(),
                        .devices = {devices_.back()},
                        .membership = membership_,
                        .server = server_,
                        .own_thread = true};
  worker_ = spawn_worker(system, std::move(worker));
  caf::anon_send(membership_, membership_owner{worker_});
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "task";
  exchange.self.job = self_.job;
  exchange.self.task = self_.task;
  exchange.self.incarnation = incarnation_;
  exchange.address = *address_of(cluster_, self_);
  exchange.owner = worker_;
  exchange.opener = membership_.address();
  exchange.server = server_;
  exchange.self.cluster = cluster_.name;
  exchange.peer_timeout = peer_timeout;
  exchange.known = known;
  listener_ = system.spawn(listener_behavior, &network_, process_.get(),
                           std::make_shared<exchange_options>(std::move(exchange)));
  network_.listen(*address_of(cluster_, self_), *process_, listener_);
  core_.tell(process_->name(), "start", "incarnation ", incarnation_);
}

void task_host::stop(network::leaving how) {
  core_.tell(process_->name(), "stop",
             how == network::leaving::orderly   ? "orderly"
             : how == network::leaving::crashed ? "crash"
                                                : "crash of the machine");
  if (how != network::leaving::orderly)
    network_.leave(*process_, how);
  process_->enter(core_.now);
  for (auto& one : {listener_, membership_, worker_})
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  server_->close(failure(error_kind::unavailable, "the task shuts down"));
  listener_ = membership_ = worker_ = nullptr;
  auto took = process_->finish(core_.now);
  network_.leave(*process_, how);
  if (process_->actors() > 0)
    core_.violated("no actor is left when a task has ended", process_->name(), " has ",
                   process_->actors());
  else if (took > end_patience)
    core_.violated("a task ends soon", process_->name(), " took ", took.count() / 1'000'000, " ms");
  if (process_->loop()->sockets() > 0)
    core_.violated("no connection is left when a task has ended", process_->name(), " has ",
                   process_->loop()->sockets());
  if (auto live = process_->loop()->live(); live != 0)
    core_.violated("a task that has ended holds no memory", to_string(self_), " has ", live,
                   " payloads");
  process_.reset();
  if (server_.use_count() > 1)
    core_.violated("nothing of a task is left when it has ended", to_string(self_),
                   " leaves its server of steps");
  server_.reset();
  if (auto live = devices_.back()->memory().live; live != 0)
    core_.violated("a task that has ended holds no memory", to_string(self_), " has ", live,
                   " allocations");
}

void task_host::set_short_of_memory(bool on) {
  if (!devices_.empty())
    devices_.back()->memory().is_short = on;
}

void task_host::check_idle() {
  if (server_->steps().size() > 0)
    core_.violated("an idle task runs no step", process_->name(), " has ", server_->steps().size());
  if (auto live = process_->loop()->live(); live != 0)
    core_.violated("an idle task holds no payload", process_->name(), " has ", live);
  if (process_->timers() > own_timers)
    core_.violated("an idle task waits for nothing", process_->name(), " has ", process_->timers(),
                   " timers");
}

} // namespace troupe::simulate
