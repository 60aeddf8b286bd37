#include "tests/simulate/task_host.hpp"

#include "tests/simulate/ledger.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/membership/claim_number.hpp"
#include "troupe/actors/task/worker.hpp"
#include "troupe/runtime/version.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// The time that a task may take to end.
constexpr std::chrono::seconds end_patience{2};
// The maximum number of idle wakeups. A membership with a list wakes occasionally; a claimant's
// timeout may still be pending; and a seed address whose machine is gone is called repeatedly.
size_t timers_of_joined(int64_t seeds) { return 2 + static_cast<size_t>(seeds); }
// Timing of a joined cluster, which tolerates a minute of faults.
constexpr coordinator_options member_times{.settle = 2s,
                                           .unreachable_after = 1s,
                                           .gone_after = 4s,
                                           .isolated_after = 8s,
                                           .probe_every = 1s};
constexpr succession_options vote_times{
    .vote_after = 1s, .candidate_after = 2s, .rank_delay = 400ms, .retry_after = 2s};
// The time until other tasks must know of a new task.
constexpr duration spread_time = 3s;

struct listener_state {
  explicit listener_state() {}
  std::set<caf::actor_addr> exchanges;
};

// Like the actor that accepts at a socket (actors/network/listener.cpp).
caf::behavior listener_behavior(caf::stateful_actor<listener_state>* self, network* in, process* at,
                                const std::shared_ptr<exchange_options>& options) {
  self->set_default_handler(caf::drop);
  self->set_down_handler(
      [=](const caf::down_msg& down) { self->state.exchanges.erase(down.source); });
  self->set_exit_handler([=](const caf::exit_msg& exit) {
    for (const auto& connection : self->state.exchanges)
      if (auto exchange = caf::actor_cast<caf::actor>(connection))
        self->send_exit(exchange, exit.reason);
    self->quit(exit.reason);
  });
  return {
      [=](const accepted& incoming) {
        auto exchange = in->open_accepted(incoming.wire, *at, *options);
        self->monitor(exchange);
        self->state.exchanges.insert(exchange.address());
      },
  };
}

} // namespace

task_host::task_host(core& simulation, network& in, ledger& book, const cluster_spec& cluster,
                     task_name self, size_t index)
    : core_(simulation), network_(in), ledger_(book), cluster_(cluster), self_(std::move(self)),
      index_(index), chance_(simulation.settings.seed, concat("task ", index)) {}

std::unique_ptr<task_host> task_host::split(size_t host) {
  auto old = std::make_unique<task_host>(core_, network_, ledger_, cluster_, self_, index_);
  std::swap(old->incarnation_, incarnation_);
  std::swap(old->devices_, devices_);
  std::swap(old->process_, process_);
  std::swap(old->server_, server_);
  std::swap(old->listener_, listener_);
  std::swap(old->membership_, membership_);
  std::swap(old->worker_, worker_);
  std::swap(old->watcher_, watcher_);
  std::swap(old->life_, life_);
  std::swap(old->address_, address_);
  *old->life_ = old.get();
  old->goes_on_ = false;
  old->set_short_of_memory(false); // its shortage ends with that of its successor, or before
  network_.move(*old->process_, concat(to_string(self_), " old ", ++splits_), host);
  return old;
}

std::chrono::milliseconds task_host::peer_timeout() const {
  return std::chrono::milliseconds{core_.settings.peer_timeout_ms};
}

std::vector<std::string> task_host::seeds() const {
  std::vector<std::string> addresses;
  for (const auto& [task, address] : task_addresses{cluster_}.tasks)
    addresses.push_back(address);
  std::ranges::reverse(addresses); // workers first
  addresses.resize(std::min(addresses.size(), static_cast<size_t>(core_.settings.joined)));
  return addresses;
}

void task_host::start() {
  incarnation_ =
      new_incarnation(std::chrono::system_clock::time_point{core_.now.time_since_epoch()});
  process_ = std::make_unique<process>(to_string(self_), index_, network_);
  follows_coordinator_ = false;
  process_->enter(core_.now);
  process_->loop()->ticks = looks_for_silence;
  life_ = std::make_shared<task_host*>(this);
  address_ = *address_of(cluster_, self_);
  if (!core_.settings.joined)
    return serve();
  joins_ = core_.begin_fault({fault_kind::crash, static_cast<int>(index_), -1, core_.now});
  auto seed_addresses = seeds();
  if (seed_addresses.front() == address_)
    return serve();
  if (std::ranges::find(seed_addresses, address_) == seed_addresses.end() &&
      chance_.permille(core_.settings.moves))
    address_ = concat(address_.substr(0, address_.find(':')), '.', ++moves_, ":1");
  claim();
}

// As troupe::task does before it serves.
void task_host::claim() {
  auto& system = process_->system();
  core_.tell(process_->name(), "joins", "at ", address_);
  claimant_ = spawn_claimant(system, {.seeds = seeds(),
                                      .claim = {self_.job, self_.task, incarnation_, address_},
                                      .cluster = cluster_.name,
                                      .patience = 1h,
                                      .peer_timeout = peer_timeout(),
                                      .transport = network_.transport(*process_)});
  auto settle = [this, life = life_](result<number_grant> grant) {
    core_.after({}, [life, grant = std::move(grant)] {
      auto* self = *life;
      if (!self)
        return;
      if (!grant)
        return self->ended(grant.status());
      self->process_->enter(self->core_.now);
      caf::anon_send_exit(std::exchange(self->claimant_, nullptr), caf::exit_reason::user_shutdown);
      self->incarnation_ = grant->incarnation;
      self->follows_coordinator_ = grant->coordinator_address == self->address_;
      self->serve();
    });
  };
  system.spawn([=, claimant = claimant_](caf::event_based_actor* self) {
    self->request(claimant, caf::infinite, await_number_atom::value)
        .then([=](const number_grant& grant) { settle(grant); },
              [=](const caf::error& error) { settle(from_caf(error)); });
  });
}

void task_host::serve() {
  ledger_.started(index_, incarnation_);
  devices_.push_back(std::make_shared<simulated_device>(core_, index_, incarnation_));
  auto& system = process_->system();
  server_ = std::make_shared<step_server>(self_, incarnation_, clock_of(system));
  auto known_incarnations = std::make_shared<incarnations>();
  cluster_access cluster{cluster_};
  join_options join;
  if (core_.settings.joined) {
    cluster.known.tasks.clear();
    cluster.seeds = seeds();
    join = {seeds(), address_, member_times, vote_times, follows_coordinator_};
  }
  membership_ = spawn_membership(system, {.cluster = std::move(cluster),
                                          .role = "task",
                                          .self = self_,
                                          .incarnation = incarnation_,
                                          .peer_timeout = peer_timeout(),
                                          .owner = {},
                                          .server = server_,
                                          .incarnations = known_incarnations,
                                          .transport = network_.transport(*process_),
                                          .own_thread = true,
                                          .join = std::move(join)});
  // Regions are not sized by the measured cost of messages, which would be real time.
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
  exchange.address = address_;
  exchange.owner = worker_;
  exchange.opener = membership_.address();
  exchange.server = server_;
  exchange.self.cluster = cluster_.name;
  exchange.peer_timeout = peer_timeout();
  exchange.incarnations = known_incarnations;
  listener_ = system.spawn(listener_behavior, &network_, process_.get(),
                           std::make_shared<exchange_options>(std::move(exchange)));
  network_.listen(address_, *process_, listener_);
  core_.tell(process_->name(), "start", "incarnation ", incarnation_);
  supervise();
  if (joins_)
    core_.after(spread_time, [this, fault_index = *std::exchange(joins_, std::nullopt)] {
      core_.end_fault(fault_index);
    });
}

// A membership ends by itself if another process has its number. The handle keeps the actor that
// waits for that alive.
void task_host::supervise() {
  watcher_ = process_->system().spawn(
      [=, this, life = life_, whom = membership_](caf::event_based_actor* self) {
        self->monitor(whom);
        self->set_down_handler([=, this](const caf::down_msg& down) {
          if (down.reason != caf::exit_reason::user_shutdown)
            core_.after({}, [life, reason = from_caf(down.reason)] {
              if (*life)
                (*life)->ended(reason);
            });
          self->quit();
        });
        self->set_default_handler(caf::drop);
        return caf::behavior{[](caf::unit_t) {}};
      });
}

// Like a process supervisor: starts a successor.
void task_host::ended(const status& reason) {
  core_.tell(process_->name(), "ends", reason.message());
  if (!core_.settings.joined || (reason.kind() != error_kind::failed_precondition &&
                                 reason.kind() != error_kind::already_exists))
    core_.violated("a task ends by itself only if another process has its number", process_->name(),
                   ": ", reason.message());
  core_.begin_fault({fault_kind::crash, static_cast<int>(index_), -1, core_.now, core_.now + 1s});
  stop(network::departure::crashed);
  if (goes_on_)
    core_.after(1s, [this] {
      if (!runs())
        start();
    });
}

void task_host::stop(network::departure leave_mode) {
  core_.tell(process_->name(), "stop",
             leave_mode == network::departure::orderly   ? "orderly"
             : leave_mode == network::departure::crashed ? "crash"
                                                         : "crash of the machine");
  if (leave_mode != network::departure::orderly)
    network_.leave(*process_, leave_mode);
  process_->enter(core_.now);
  *std::exchange(life_, nullptr) = nullptr;
  if (joins_)
    core_.end_fault(*std::exchange(joins_, std::nullopt));
  for (auto& actor : {claimant_, listener_, membership_, worker_})
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  if (server_)
    server_->close(failure(error_kind::unavailable, "the task shuts down"));
  claimant_ = listener_ = membership_ = worker_ = watcher_ = nullptr;
  auto took = process_->finish(core_.now);
  network_.leave(*process_, leave_mode);
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
    core_.violated("no part of a task is left when it has ended", to_string(self_),
                   " leaves its server of steps");
  server_.reset();
  if (devices_.empty())
    return;
  if (auto live = devices_.back()->memory().live; live != 0)
    core_.violated("a task that has ended holds no memory", to_string(self_), " has ", live,
                   " allocations");
}

void task_host::set_short_of_memory(bool on) {
  if (!devices_.empty())
    devices_.back()->memory().is_short = on;
}

void task_host::check_idle() {
  if (!server_)
    return core_.violated("a task has a number when faults are over", to_string(self_));
  if (server_->steps().size() > 0)
    core_.violated("an idle task runs no step", process_->name(), " has ", server_->steps().size());
  if (auto live = process_->loop()->live(); live != 0)
    core_.violated("an idle task holds no payload", process_->name(), " has ", live);
  if (process_->timers() > (core_.settings.joined ? timers_of_joined(core_.settings.joined) : 0))
    core_.violated("an idle task waits for nothing", process_->name(), " has ", process_->timers(),
                   " timers");
}

} // namespace troupe::simulate
