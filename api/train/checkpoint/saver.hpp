// Checkpoints: training goes on where it was (white paper 3.3, OSDI 4.3).
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

/// In which format a saver writes the tensors of a checkpoint; it reads both.
enum class saver_format : uint8_t {
  safetensors,
  tensorflow, ///< FOLDER/step-N/model: TensorFlow's `tf.train.load_checkpoint` reads it
};

/// Which checkpoints a saver keeps, and who writes them how.
struct saver_options {
  int64_t keep_newest = 5;      ///< so many; 0: all
  int64_t keep_every_steps = 0; ///< and one of each so many steps, for good; 0: none
  double keep_every_hours = 0;  ///< and one of each so many hours, for good; 0: none
  int64_t keep_best = 0;        ///< and so many of the best of those saved with a metric
  bool lower_is_better = false; ///< such as a loss
  saver_format format = saver_format::safetensors;
  /// Each task writes and reads the variables that it holds, which then do not travel, in
  /// TensorFlow's format. All of them and this process must see the folder by the same absolute
  /// path: that is checked, once, before anything is saved or restored.
  bool by_tasks = false;
  /// Where streams of random numbers stand is asked for before save_async() returns, so that it
  /// fits the variables; a task that does not answer is waited for, up to two seconds. False: it is
  /// asked for beside the steps, for graphs whose other steps run meanwhile in any case.
  bool exact_streams = true;
  /// Also what the graph's queues hold, where its readers stand, and what mutable tables have: a
  /// consistent cut with the variables only while no step runs, those of queue runners included
  /// (coordinator::while_suspended). Else elements that steps under way have taken come again.
  bool all_state = false;
  /// What a variable is called in checkpoints, by its name in the graph: without the name of a
  /// replica, say, so that another may read it. Nothing: the same.
  std::function<std::string(const std::string&)> name_there = {};
  /// Told, on a thread that saves, what does not make a save fail: an older checkpoint that could
  /// not be removed, and once the state of the graph that checkpoints do not have. Nothing: that
  /// passes in silence.
  std::function<void(const std::string&)> on_warning = {};
  /// Writes also where another process, or another saver of this one, writes to the folder: that
  /// one fails from then on. Else saving throws already_exists, and names the other.
  bool take_over = false;
};

/// One of the complete checkpoints of a folder.
struct saved_checkpoint {
  std::string path = {};
  int64_t step = 0;
  std::optional<double> metric = {}; ///< of those saved with one
  /// When its values were read; 1970 where it does not say.
  std::chrono::system_clock::time_point time = {};
  bool is_latest = false; ///< the one that saver::restore() takes
};

/// What a checkpoint and a graph do not have in common.
struct restore_report {
  int64_t step = 0;
  std::string path = {};
  bool same_graph = true; ///< false where the checkpoint is of a graph that was built otherwise
  std::vector<std::string> restored = {};
  std::vector<std::string> missing = {}; ///< of the graph, not in the checkpoint
  std::vector<std::string> extra = {};   ///< in the checkpoint, not of the graph
  std::vector<std::string> unequal =
      {}; ///< of another type or shape: "w: f32[2] in the graph, ..."
  /// State of the graph that was not saved, so that it is empty now or what it was: "queue 'q'".
  std::string not_saved = {};
  std::map<std::string, std::string> notes = {}; ///< saver::also_note
};

/// How saver::restore_from reads what others have saved.
struct import_options {
  /// What a variable is called there, by its name here; an empty text leaves it as it is. Nothing:
  /// names are the same.
  std::function<std::string(const std::string&)> name_there = {};
  bool partly = false; ///< takes what fits and reports the rest; else nothing is assigned then
};

/// Saves and restores the variables of a graph, wherever they are: values travel to this process
/// (unless saver_options::by_tasks), which writes one folder for each checkpoint, with a manifest
/// (docs/files.md). One that is being written is invisible until it is complete. Slices of a
/// partitioned variable are saved as parts of the whole, and can be restored into other slices.
/// Throws troupe::error, whose message names the file and the tensor. One thread at a time.
///
/// From its first save until it is destroyed, a saver is the only one that writes to its folder
/// (saver_options::take_over); any number may read. A process that has ended holds no
/// folder.
class TROUPE_API saver {
public:
  using location = std::source_location;

  /// Of all variables made so far in the graph, the optimizers' included, but for local ones
  /// (graph_builder::local_variable): restoring initializes those of the graph. Adds the nodes that
  /// assign them. Nothing is written yet.
  saver(graph_builder& of, std::string folder, const saver_options& options = {},
        location where = location::current());
  /// Of these, which may be local.
  saver(graph_builder& of, const std::vector<edge>& variables, std::string folder,
        const saver_options& options = {}, location where = location::current());
  saver(saver&&) noexcept;
  saver& operator=(saver&&) noexcept;
  /// Waits for what is being written.
  ~saver();

  /// Keeps the value of an edge, too, under a name of its own: what a reader's position is, say,
  /// or a table's content. It is read in the same step as the variables; restoring feeds it to
  /// `placeholder` and runs `restored`, in the step that assigns them.
  void also_keep(std::string name, edge value, edge placeholder, node* restored,
                 location where = location::current());

  /// Keeps texts, too, which are asked for whenever a checkpoint is read: restore_report::notes has
  /// them again.
  void also_note(std::function<std::map<std::string, std::string>()> now);

  /// How long its steps, which read and assign, may take; 0: as long as the session says.
  void limit_steps(std::chrono::milliseconds to, location where = location::current());

  /// Saves all variables as of now, and returns when they will survive a crash: the path. All are
  /// read in one step: a consistent cut if no other step runs.
  std::string save(session& in, int64_t step, location where = location::current());
  /// The same for a checkpoint that `metric` ranks among the others (saver_options::keep_best).
  std::string save(session& in, int64_t step, double metric, location where = location::current());
  /// The same, but writes on a thread of its own. Values that training changes meanwhile are copied
  /// as they change. Waits for the one before; throws what that failed with. Where tasks write,
  /// they read their variables a moment later, when that thread's step runs; the session must stay
  /// until then: wait().
  void save_async(session& in, int64_t step, location where = location::current());
  void save_async(session& in, int64_t step, double metric, location where = location::current());
  /// Whether it is not all written yet, so that wait() would block.
  bool is_writing() const;
  /// Waits until all is written, and throws what it failed with.
  void wait(location where = location::current());

  /// The step of the newest checkpoint, if there is one.
  std::optional<int64_t> latest_step(location where = location::current()) const;
  /// Assigns all variables from the newest checkpoint. Nothing if there is none. Throws, and
  /// assigns nothing, where the graph has a variable that the checkpoint does not have like that.
  std::optional<restore_report> restore(session& in, location where = location::current());
  /// Assigns what is in both alike, and reports the rest.
  std::optional<restore_report> restore_partly(session& in, location where = location::current());
  /// As restore(), from the checkpoint with the best metric (saver_options::lower_is_better), of
  /// equal ones the newest. Nothing if none has a metric.
  std::optional<restore_report> restore_best(session& in, location where = location::current());
  /// The complete checkpoints of the folder, in the order of their steps; none where there is no
  /// folder.
  std::vector<saved_checkpoint> list(location where = location::current()) const;

  /// Assigns variables from a file of others, or of another folder: a checkpoint of ours, a
  /// `.safetensors` or `.npz` file, a checkpoint of TensorFlow (its prefix). Throws, and assigns
  /// nothing, where one is missing there or has another type or shape.
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
