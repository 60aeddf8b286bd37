// How tasks save and restore the variables that they hold, each a shard of one checkpoint in a
// folder that all of them see. The saver's (saver.hpp).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

class task_saving {
public:
  using location = std::source_location;

  struct variable {
    edge made;
    std::string name; ///< in checkpoints: that of the whole, for a slice
    std::optional<manifest_slice> slice;
  };

  /// Adds the nodes: a SaveV2 and a RestoreV2 for each task that variables are put on.
  task_saving(graph_builder& to, const std::vector<variable>& all, location where);

  // `each` says how long their steps may take.

  /// Fails, naming the task, unless each sees what this process writes to the folder, and the other
  /// way round. Writes small files and removes them.
  status check_shared(session& in, const std::string& folder, const run_options& each,
                      location where) const;

  /// Has all tasks write, in one step, which also gives what `more` fetches, and makes one
  /// checkpoint of their shards and of `items`, which that names. Says in the manifest what is in
  /// it.
  using item_maker = std::function<std::vector<checkpoint_item>(std::vector<tensor>)>;
  status write(session& in, const std::string& folder, const std::vector<edge>& more,
               const item_maker& items, checkpoint_manifest& about, const run_options& each,
               location where) const;

  /// Has all tasks read: assigns all variables from a checkpoint that has all of them.
  void restore(session& in, const std::string& checkpoint, const run_options& each,
               location where) const;

private:
  struct shard {
    std::string device; ///< of the task; empty where the placer chooses
    edge save_path, probe_path, probe_text, probe_read;
    node *save = nullptr, *restore = nullptr, *probe_write = nullptr;
  };

  void add_shard(graph_builder& to, const std::string& device, const std::vector<variable>& all,
                 location where);

  std::vector<shard> shards_;
  edge restore_path_;
};

} // namespace troupe
