// Makes the programs of a task from the graphs that are registered with it.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"
#include "troupe/actors/task/program_store.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/regions.hpp"

namespace troupe {

struct owned_device {
  device_name name;
  std::shared_ptr<device> runs;
  std::shared_ptr<region_threads> launches; ///< the thread of its own, where it has one
};

/// Immutable; one thread at a time may call, any thread. Nothing throws.
class program_compiler {
public:
  struct parts {
    caf::actor_system* system = nullptr;
    task_name self;
    const registry* ops = nullptr;
    std::vector<owned_device> devices;
    /// Of steps of low priority; null: they run as others do.
    std::shared_ptr<region_threads> low_priority = {};
    std::shared_ptr<kernel_threads> kernels = {}; ///< null: the scheduler's threads run regions
    region_options regions = {};
    bool deterministic = false;
    std::shared_ptr<resources> state;
    std::shared_ptr<step_server> server; ///< whose programs they become
    std::shared_ptr<flight_recorder> recorder = std::make_shared<flight_recorder>();
  };
  explicit program_compiler(parts of) : of_(std::move(of)) {}

  /// Reads what another process wrote. Fails for whatever is damaged, or that this task lacks.
  result<register_request> read(const register_graph& what) const;

  /// Compiles the partitions, whose graphs it takes, and links them with each other.
  result<std::shared_ptr<task_program>> compile(register_partitions& what,
                                                const connection_ptr& owner) const;

  const std::vector<owned_device>& devices() const noexcept { return of_.devices; }

private:
  class compilation;
  parts of_;
};

} // namespace troupe
