// Checkpoints: training goes on where it was (white paper 3.3, OSDI 4.3).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Which checkpoints a saver keeps.
struct saver_options {
  int64_t keep_newest = 5;      ///< so many; 0: all
  int64_t keep_every_steps = 0; ///< and one of each so many steps, for good; 0: none
};

/// What a checkpoint and a graph do not have in common.
struct restore_report {
  int64_t step = 0;
  std::string path = {};
  std::vector<std::string> restored = {};
  std::vector<std::string> missing = {}; ///< of the graph, not in the checkpoint
  std::vector<std::string> extra = {};   ///< in the checkpoint, not of the graph
  std::vector<std::string> unequal =
      {}; ///< of another type or shape: "w: f32[2] in the graph, ..."
};

/// Saves and restores the variables of a graph, wherever they are: values travel to this process,
/// which writes one folder for each checkpoint, as safetensors with a manifest (docs/files.md). One
/// that is being written is invisible until it is complete. Slices of a partitioned variable are
/// saved as parts of the whole, and can be restored into other slices. Throws troupe::error, whose
/// message names the file and the tensor. One thread at a time.
class TROUPE_API saver {
public:
  using location = std::source_location;

  /// Of all variables made so far in the graph, the optimizers' included. Adds the nodes that
  /// assign them. Nothing is written yet.
  saver(graph_builder& of, std::string folder, const saver_options& options = {},
        location where = location::current());
  /// Of these.
  saver(graph_builder& of, const std::vector<edge>& variables, std::string folder,
        const saver_options& options = {}, location where = location::current());
  saver(saver&&) noexcept;
  saver& operator=(saver&&) noexcept;
  /// Waits for what is being written.
  ~saver();

  /// Saves all variables as of now, and returns when they will survive a crash: the path. All are
  /// read in one step: a consistent cut if no other step runs.
  std::string save(session& in, int64_t step, location where = location::current());
  /// The same, but writes on a thread of its own. Values that training changes meanwhile are copied
  /// as they change. Waits for the one before; throws what that failed with.
  void save_async(session& in, int64_t step, location where = location::current());
  /// Waits until all is written, and throws what it failed with.
  void wait(location where = location::current());

  /// The step of the newest checkpoint, if there is one.
  std::optional<int64_t> latest_step(location where = location::current()) const;
  /// Assigns all variables from the newest checkpoint. Nothing if there is none. Throws, and
  /// assigns nothing, where the graph has a variable that the checkpoint does not have like that.
  std::optional<restore_report> restore(session& in, location where = location::current());
  /// Assigns what is in both alike, and reports the rest.
  std::optional<restore_report> restore_partly(session& in, location where = location::current());

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
