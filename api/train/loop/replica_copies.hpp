// The graph of replicas that keep copies of the variables (replica_mode::all_reduce).
#pragma once
#include "troupe/api/train/loop/replicas.hpp"
#include "troupe/api/train/optimizers/data_parallel.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Returns the devices of a worker that have a replica each, in order; with ps_tasks = 0, those of
/// the only task.
std::vector<std::string> copy_devices(const replicas_options& options, int worker);

/// One graph with the replicas of `workers` workers, some of which may not exist. With k devices
/// for each worker, replica r is on device r % k of worker r / k.
class replica_copies {
public:
  using location = std::source_location;

  /// Throws troupe::error if the builder does not build the same model for each replica.
  replica_copies(const replicas::builder& build_model, const replicas_options& options, int workers,
                 location where);
  replica_copies(const replica_copies&) = delete;

  graph_builder& graph() noexcept { return graph_; }
  int workers() const noexcept { return workers_; }
  const std::vector<std::string>& devices() const noexcept { return devices_; }
  size_t replica_on(const std::string& device) const; ///< its number; throws if there is none
  const replica_step& model(size_t replica) const { return models_[replica]; }
  /// The step counter of a replica. Each replica counts separately.
  edge counter(size_t replica) const { return (*counters_)[replica]; }

  // The first calls of these functions add nodes: no step may be prepared meanwhile.

  /// Returns a step of the replicas on these devices. Its `synchronize` copies the variables of the
  /// first one to the others.
  data_parallel_step step_of(const std::vector<std::string>& devices) const;
  /// Returns the node that initializes one replica.
  node* initializer(size_t replica);
  /// Returns the saver of one replica. Checkpoints do not depend on the number of the replica.
  saver& saver_of(size_t replica, const saver_options& saver_settings);
  /// Removes the savers' callbacks and locks of the folder. No saver may be writing.
  void release_folder();

private:
  static std::string scope_of(size_t replica) { return concat("replica_", replica, '/'); }
  std::map<std::string, std::string> checkpoint_names(size_t replica) const;

  const replicas_options& options_;
  const int workers_;
  const location where_;
  graph_builder graph_;
  std::vector<std::string> devices_;
  std::vector<replica_step> models_;
  std::shared_ptr<std::vector<variable_handle>> counters_;
  data_parallel_training training_;
  std::map<size_t, node*> initializers_;
  std::map<size_t, saver> savers_;
};

} // namespace troupe
