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
  task_host(core& simulation, network& in, ledger& book, const cluster_spec& cluster,
            task_name self, size_t index);

  void start();
  /// Ends the task like ~running_task, orderly or cut off from the network.
  void stop(network::departure leave_mode);
  /// It continues as another machine, with its connections, and no longer answers at its address;
  /// start() starts its successor.
  std::unique_ptr<task_host> split(size_t host);
  bool runs() const noexcept { return process_ != nullptr; }
  /// It has a number. In a joined cluster, it does not have one immediately.
  bool serves() const noexcept { return server_ != nullptr; }
  process* running() noexcept { return process_.get(); }
  /// The known addresses of a joined cluster.
  std::vector<std::string> seeds() const;
  uint64_t incarnation() const noexcept { return incarnation_; }
  const task_name& name() const noexcept { return self_; }
  void set_short_of_memory(bool on);
  /// Checks that it has no work except its own timers.
  void check_idle();
  bool looks_for_silence = true; ///< false plants a defect, to test the simulation

private:
  void claim();
  void serve();
  void supervise();
  void ended(const status& reason);
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
  bool goes_on_ = true;              // a process that ends by itself gets a successor
  std::shared_ptr<task_host*> life_; // shared with the process's callbacks; null after its end
  std::optional<size_t> joins_;      // the fault that lasts until it has a number
  uint64_t incarnation_ = 0;
  std::vector<std::shared_ptr<simulated_device>> devices_; // of all incarnations
  std::unique_ptr<process> process_;
  std::shared_ptr<step_server> server_;
  caf::actor claimant_, listener_, membership_, worker_, watcher_;
};

} // namespace troupe::simulate
