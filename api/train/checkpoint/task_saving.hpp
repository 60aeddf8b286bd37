// Saves and restores variables by the tasks that hold them. Each task writes one shard of a
// checkpoint in a folder that all tasks see. Part of the saver (saver.hpp).
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
    edge value;
    std::string name; ///< in checkpoints; for a slice, the name of the whole variable
    std::optional<manifest_slice> slice;
  };

  /// Adds the nodes: a SaveV2 and a RestoreV2 for each task that variables are put on.
  task_saving(graph_builder& to, const std::vector<variable>& variables, location where);

  // `step_options` has the timeout of each step.

  /// Fails, naming the task, unless each task sees the files that this process writes to the
  /// folder, and this process sees those of each task. Writes small files and removes them.
  status check_shared(session& in, const std::string& folder, const run_options& step_options,
                      location where) const;

  /// Writes all shards in one step, which also fetches `extra_fetches`. Makes one checkpoint of the
  /// shards and of the items that `make_items` returns for the fetched values. Adds the content to
  /// the manifest.
  using item_maker = std::function<std::vector<checkpoint_item>(std::vector<tensor>)>;
  status write(session& in, const std::string& folder, const std::vector<edge>& extra_fetches,
               const item_maker& make_items, checkpoint_manifest& manifest,
               const run_options& step_options, location where) const;

  /// Assigns all variables from a checkpoint that has all of them. Each task reads its own.
  void restore(session& in, const std::string& checkpoint, const run_options& step_options,
               location where) const;

private:
  struct shard {
    std::string device; ///< of the task; empty if the placer chooses it
    edge save_path, probe_path, probe_text, probe_read;
    node *save = nullptr, *restore = nullptr, *probe_write = nullptr;
  };

  void add_shard(graph_builder& to, const std::string& device,
                 const std::vector<variable>& variables, location where);

  std::vector<shard> shards_;
  edge restore_path_;
};

} // namespace troupe
