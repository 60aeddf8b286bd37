// What replicas keep: their graphs, and what one run of them shares with its threads.
#pragma once
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/loop/replica_copies.hpp"
#include "troupe/api/train/loop/replicas.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

namespace troupe {

inline constexpr int replicas_limit = 1024;

/// The graph of one replica, and the ends of it that are run.
struct replica_graph {
  std::unique_ptr<graph_builder> graph = {};
  replica_step ends = {};
  edge label = {};         ///< sync: to be fed with the step that the gradients are for
  edge next = {};          ///< sync: the step of all after this one. bounded: the replica's steps
  node* train = nullptr;   ///< async and bounded; sync: keeps what is not sent, if there is any
  node* probe = nullptr;   ///< does nothing, on the worker
  node* prepare = nullptr; ///< clears what the worker keeps of gradients, where it sends parts
};

/// What only ps tasks run. Edges and nodes that a mode does not have are nothing.
struct chief_graph {
  std::unique_ptr<graph_builder> graph = {};
  replica_step ends = {};
  edge global_step = {};
  node* initializer = nullptr;
  std::vector<edge> initialized = {}; ///< for each variable, whether it has a value
  // sync
  edge label = {};            ///< to be fed
  edge required = {};         ///< elastic: the same, how many gradients a step takes
  node* apply = nullptr;      ///< takes the gradients, moves the variables, and sets the next label
  node* set_labels = nullptr; ///< of the accumulators
  node* clear = nullptr;      ///< the accumulators: steps that wait to take fail
  node* open = nullptr;       ///< sets the label that replicas wait for
  edge opened = {};           ///< the label that was set last
  // bounded
  edge replica = {}; ///< to be fed
  node* join = nullptr;
  node* leave = nullptr;
};

struct replicas::state : std::enable_shared_from_this<replicas::state> {
  replicas_options options;
  chief_graph chief;
  std::map<int, replica_graph> workers = {};    // by number; guarded by the mutex
  std::function<replica_graph(int)> build = {}; // throws where the model is not that of the chief
  // all_reduce: graphs, of which only the last is run: where replicas join that it does not have,
  // there is another; guarded by the mutex.
  std::vector<std::shared_ptr<replica_copies>> copies = {};
  std::function<std::shared_ptr<replica_copies>(int workers)> build_copies = {};
  std::optional<saver> saves = {};
  std::shared_ptr<folder_lock> lock = {}; // of the checkpoints' folder, during a run
  std::mutex mutex = {}, telling = {};
  std::condition_variable changed = {};
  bool asked = false;

  bool is_sync() const { return options.mode == replica_mode::sync; }
  bool is_bounded() const { return options.mode == replica_mode::bounded; }
  // Whether batches go to whoever is ready; else each step of each replica has its own.
  bool hands_out() const { return !is_sync() || options.elastic; }

  // Any thread, also with the mutex.
  void tell(const replica_event& what) {
    if (!options.on_event)
      return;
    std::lock_guard guard{telling};
    options.on_event(what);
  }

  void warn_of_saving(const std::string& text) {
    if (const auto& warn = options.keep.on_warning)
      warn(text);
    tell({.what = replica_event::kind::warning, .text = text});
  }
  void tell_differences(const restore_report& report);
  void lock_folder(location where);
  /// The numbers of the tasks of the worker job that the session knows.
  std::set<int> workers_there(session& in, location where) const;
  std::string newest() const; // the path of the newest checkpoint; empty where there is none

  class loop;
  class copies_loop;
  replicas_report run(session& in, location where);
};

} // namespace troupe
