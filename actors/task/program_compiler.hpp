// Compiles the graphs that are registered with a task into its programs.
#pragma once
#include "troupe/actors/execution/region_threads.hpp"
#include "troupe/actors/task/program_store.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/regions.hpp"

namespace troupe {

/// A device of the task.
struct owned_device {
  device_name name;
  std::shared_ptr<troupe::device> device;
  std::shared_ptr<region_threads> launch_thread; ///< its own launch thread, or null
};

/// Immutable. Any thread may call, one at a time. Throws nothing.
class program_compiler {
public:
  struct parts {
    caf::actor_system* system = nullptr;
    task_name self;
    const registry* ops = nullptr;
    std::vector<owned_device> devices;
    /// For steps of low priority; null: these run like others.
    std::shared_ptr<region_threads> low_priority = {};
    std::shared_ptr<kernel_threads> kernels = {}; ///< null: the scheduler's threads run regions
    region_options regions = {};
    bool deterministic = false;
    std::shared_ptr<resources> state;
    std::shared_ptr<step_server> server; ///< keeps the programs
    std::shared_ptr<flight_recorder> recorder = std::make_shared<flight_recorder>();
  };
  explicit program_compiler(parts components) : parts_(std::move(components)) {}

  /// Parses a registration of another process. Fails if it is damaged, or names an op, attribute or
  /// device that this task lacks.
  result<register_request> read(const register_graph& encoded) const;

  /// Compiles the partitions, takes their graphs, and links the programs with each other.
  result<std::shared_ptr<task_program>> compile(register_partitions& registration,
                                                const connection_ptr& owner) const;

  const std::vector<owned_device>& devices() const noexcept { return parts_.devices; }

private:
  class compilation;
  parts parts_;
};

} // namespace troupe
