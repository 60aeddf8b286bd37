// A simulated machine with a task of the cluster: production actors over a simulated network.
#pragma once
#include "tests/simulate/device.hpp"
#include "tests/simulate/ledger.hpp"
#include "tests/simulate/network.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/serialization/config/cluster.hpp"

namespace troupe::simulate {

class task_host {
public:
  task_host(core& of, network& in, ledger& book, const cluster_spec& cluster, task_name self,
            size_t index);

  void start();
  /// Ends the task as ~running_task does, orderly or cut off from the network.
  void stop(network::leaving how);
  /// It goes on as another machine, with its connections, and no longer answers at its address:
  /// start() begins its successor.
  std::unique_ptr<task_host> split(size_t host);
  bool runs() const noexcept { return process_ != nullptr; }
  /// It has a number; in a cluster that is joined, that takes a while.
  bool serves() const noexcept { return server_ != nullptr; }
  process* running() noexcept { return process_.get(); }
  /// What is known of a cluster that is joined.
  std::vector<std::string> seeds() const;
  uint64_t incarnation() const noexcept { return incarnation_; }
  const task_name& name() const noexcept { return self_; }
  void set_short_of_memory(bool on);
  /// It has no work: it keeps nothing but its own timers.
  void check_idle();
  bool looks_for_silence = true; ///< else a defect is planted, to be found

private:
  void claim();
  void serve();
  void supervise();
  void ended(const status& why);
  std::chrono::milliseconds peer_timeout() const;

  core& core_;
  network& network_;
  ledger& ledger_;
  const cluster_spec& cluster_;
  task_name self_;
  size_t index_;
  dice chance_;
  uint64_t splits_ = 0, moves_ = 0;
  std::string address_;
  bool follows_coordinator_ = false;
  bool goes_on_ = true;              // another process follows one that ends by itself
  std::shared_ptr<task_host*> life_; // of the process, whichever host it has
  std::optional<size_t> joins_;      // the fault that it has no number yet
  uint64_t incarnation_ = 0;
  std::vector<std::shared_ptr<simulated_device>> devices_; // of all incarnations
  std::unique_ptr<process> process_;
  std::shared_ptr<step_server> server_;
  caf::actor claimant_, listener_, membership_, worker_, watcher_;
};

} // namespace troupe::simulate
