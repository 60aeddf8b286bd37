// Checkpoints, from which training resumes (white paper 3.3, OSDI 4.3).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/default_value.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// The format in which a saver writes the tensors of a checkpoint. It reads both formats.
enum class saver_format : uint8_t {
  safetensors,
  tensorflow, ///< FOLDER/step-N/model: TensorFlow's `tf.train.load_checkpoint` reads it
};

/// Which checkpoints a saver keeps, and how they are written.
struct saver_options {
  int64_t keep_newest = 5;      ///< number of newest checkpoints to keep; 0: all
  int64_t keep_every_steps = 0; ///< also keeps one per this many steps, permanently; 0: none
  double keep_every_hours = 0;  ///< also keeps one per this many hours, permanently; 0: none
  int64_t keep_best = 0;        ///< also keeps this many of the best of those saved with a metric
  bool lower_is_better = false; ///< of the metric, such as a loss
  saver_format format = saver_format::safetensors;
  /// Each task writes and reads the variables that it holds, in TensorFlow's format, so that they
  /// are not sent to this process. All tasks and this process must see the folder by the same
  /// absolute path. This is checked once, before the first save or restore.
  bool sharded_by_task = false;
  /// Positions of random number streams are read before save_async() returns, so that they match
  /// the variables; a task that does not answer delays this by up to two seconds. False: they are
  /// read in parallel with later steps, for graphs whose other steps run during a save anyway.
  bool exact_random_state = true;
  /// Also saves the contents of the graph's queues and mutable tables, and the positions of its
  /// readers. They are consistent with the variables only if no step runs, including those of queue
  /// runners (coordinator::run_while_suspended). Else elements that running steps have dequeued
  /// occur again after a restore.
  bool save_all_state = false;
  /// Maps the name of a variable in the graph to its name in checkpoints: for instance without the
  /// name of a replica, so that another replica can read it. Empty: the same name.
  std::function<std::string(const std::string&)> name_in_checkpoint = {};
  /// Called on a saving thread with each problem that does not make a save fail: an older
  /// checkpoint that could not be removed, and once the state of the graph that checkpoints do not
  /// include. Empty: such problems are not reported.
  std::function<void(const std::string&)> on_warning = {};
  /// Takes the folder over if another process, or another saver of this process, writes to it: the
  /// other fails from then on. False: saving throws already_exists, naming the other.
  bool take_over = false;
};

/// One of the complete checkpoints of a folder.
struct saved_checkpoint {
  std::string path = {};
  int64_t step = 0;
  std::optional<double> metric = {}; ///< if saved with one
  /// When its values were read; 1970 if the checkpoint does not record it.
  std::chrono::system_clock::time_point time = {};
  bool is_latest = false; ///< saver::restore() reads this one
};

/// The result of a restore, with the differences between the checkpoint and the graph.
struct restore_report {
  int64_t step = 0;
  std::string path = {};
  bool same_graph = true; ///< false if the checkpoint is of a graph that was built differently
  std::vector<std::string> restored = {};
  std::vector<std::string> missing = {};    ///< in the graph, not in the checkpoint
  std::vector<std::string> unexpected = {}; ///< in the checkpoint, not in the graph
  /// Of another type or shape: "w: f32[2] in the graph, ...".
  std::vector<std::string> mismatched = {};
  /// State of the graph that was not saved, and is therefore empty or unchanged now: "queue 'q'".
  std::string not_saved = {};
  std::map<std::string, std::string> notes = {}; ///< saver::add_notes
};

/// Options of saver::restore_from.
struct import_options {
  /// Maps the name of a variable in this graph to its name in the file; an empty result keeps the
  /// name. Empty: names are the same.
  std::function<std::string(const std::string&)> name_in_file = {};
  bool partial = false; ///< assigns the variables that match and reports the others; false: any
                        ///< mismatch is an error, and nothing is assigned
};

/// Saves and restores the variables of a graph on any devices. Values are sent to this process
/// (unless saver_options::sharded_by_task), which writes one folder for each checkpoint, with a
/// manifest (docs/files.md). A checkpoint is invisible until it is complete. Slices of a
/// partitioned variable are saved as parts of the whole variable, and can be restored into other
/// slices. Throws troupe::error, whose message names the file and the tensor. Not thread-safe.
///
/// From its first save until it is destroyed, a saver has the exclusive right to write to its
/// folder (saver_options::take_over). Any number of savers may read. The right ends with the
/// process.
class TROUPE_API saver {
public:
  using location = std::source_location;

  /// Saves all variables that the graph has so far, including the optimizers' but not local ones
  /// (graph_builder::local_variable): a restore initializes the local variables of the graph. Adds
  /// the nodes that assign the variables. Writes nothing yet.
  saver(graph_builder& in, std::string folder, const saver_options& options = {},
        location where = location::current());
  /// Saves these variables, which may be local.
  saver(graph_builder& in, const std::vector<edge>& variables, std::string folder,
        const saver_options& options = {}, location where = location::current());
  saver(saver&&) noexcept;
  saver& operator=(saver&&) noexcept;
  /// Waits until pending writes have finished.
  ~saver();

  /// Also saves the value of an edge, under a name of its own: for instance the position of a
  /// reader, or the content of a table. The edge is read in the same step as the variables. A
  /// restore feeds the value to `placeholder` and runs `restored`, in the step that assigns the
  /// variables.
  void add_saved_value(std::string name, edge value, edge placeholder, node* restored,
                       location where = location::current());

  /// Also saves texts, which `read_notes` returns whenever a checkpoint is read. A restore returns
  /// them in restore_report::notes.
  void add_notes(std::function<std::map<std::string, std::string>()> read_notes);

  /// Sets the timeout of the saver's steps, which read and assign; 0: the session's timeout.
  void set_step_timeout(std::chrono::milliseconds timeout, location where = location::current());

  /// Saves all variables, and returns the path when the checkpoint will survive a crash. All
  /// variables are read in one step: a consistent cut if no other step runs.
  std::string save(session& in, int64_t step, location where = location::current());
  /// Saves a checkpoint that `metric` ranks among the others (saver_options::keep_best).
  std::string save(session& in, int64_t step, double metric, location where = location::current());
  /// Saves on a background thread. Values that training changes meanwhile are copied as they
  /// change. Waits for the previous save, and throws its error. If tasks write
  /// (saver_options::sharded_by_task), they read their variables later, when the background
  /// thread's step runs; the session must exist until then: see wait().
  void save_async(session& in, int64_t step, location where = location::current());
  void save_async(session& in, int64_t step, double metric, location where = location::current());
  /// Returns true if a write is pending, so that wait() would block.
  bool is_writing() const;
  /// Waits until pending writes have finished, and throws their error.
  void wait(location where = location::current());

  /// Returns the step of the newest checkpoint, if there is one.
  std::optional<int64_t> latest_step(location where = location::current()) const;
  /// Assigns all variables from the newest checkpoint. Returns nullopt if there is none. Throws,
  /// and assigns nothing, if the checkpoint lacks a variable of the graph or has it with another
  /// type or shape.
  std::optional<restore_report> restore(session& in, location where = location::current());
  /// Assigns the variables that match, and reports the others.
  std::optional<restore_report> restore_partial(session& in, location where = location::current());
  /// Restores from the checkpoint with the best metric (saver_options::lower_is_better), and from
  /// the newest among equal ones. Returns nullopt if none has a metric.
  std::optional<restore_report> restore_best(session& in, location where = location::current());
  /// Lists the complete checkpoints of the folder, in the order of their steps. Empty if the folder
  /// does not exist.
  std::vector<saved_checkpoint> list(location where = location::current()) const;

  /// Assigns variables from a checkpoint in another folder, a `.safetensors` or `.npz` file, or a
  /// TensorFlow checkpoint (its prefix). Throws, and assigns nothing, if a variable is missing
  /// there or has another type or shape.
  restore_report restore_from(session& in, const std::string& path,
                              const import_options& options = {},
                              location where = location::current());

private:
  friend class saver_access;
  struct state;
  void save_async_with(session& in, int64_t step, std::optional<double> metric, location where);
  std::string save_with(session& in, int64_t step, std::optional<double> metric, location where);
  std::unique_ptr<state> state_;
};

} // namespace troupe
