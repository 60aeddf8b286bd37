// The graph of replicas that keep copies of the variables (replica_mode::all_reduce).
#pragma once
#include "troupe/api/train/loop/replicas.hpp"
#include "troupe/api/train/optimizers/data_parallel.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The devices of a worker that have a replica each, in order; of the one task where there are no
/// others (ps_tasks = 0).
std::vector<std::string> copy_devices(const replicas_options& how, int worker);

/// One graph with the replicas of so many workers, of which some may not be there. Replica r is on
/// device r % k of worker r / k, where each has k.
class replica_copies {
public:
  using location = std::source_location;

  /// Throws troupe::error where the model is not the same for each.
  replica_copies(const replicas::builder& model, const replicas_options& how, int workers,
                 location where);
  replica_copies(const replica_copies&) = delete;

  graph_builder& graph() noexcept { return graph_; }
  int workers() const noexcept { return workers_; }
  const std::vector<std::string>& devices() const noexcept { return devices_; }
  size_t on(const std::string& device) const; ///< which replica; throws where there is none
  const replica_step& ends(size_t replica) const { return ends_[replica]; }
  /// The counter of steps that a replica has. Each counts by itself.
  edge counter(size_t replica) const { return (*counters_)[replica]; }

  // These add nodes the first time: no step may be prepared meanwhile.

  /// A step among the replicas on these devices; the first gives the others its variables.
  data_parallel_step among(const std::vector<std::string>& devices) const;
  /// Gives one replica its initial values.
  node* initializer(size_t replica);
  /// Saves and restores one replica. Checkpoints do not tell which it was.
  saver& saver_of(size_t replica, const saver_options& keep);
  /// The savers tell nothing more, and no longer hold the folder. None may be writing.
  void let_go_of_folder();

private:
  static std::string scope_of(size_t replica) { return concat("replica_", replica, '/'); }
  std::map<std::string, std::string> names_there(size_t replica) const;

  const replicas_options& how_;
  const int workers_;
  const location where_;
  graph_builder graph_;
  std::vector<std::string> devices_;
  std::vector<replica_step> ends_;
  std::shared_ptr<std::vector<variable_handle>> counters_;
  data_parallel_training training_;
  std::map<size_t, node*> initializers_;
  std::map<size_t, saver> savers_;
};

} // namespace troupe
