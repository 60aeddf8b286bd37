// The state of replicas: their graphs, and the part that the threads of a run share.
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

/// The graph of one replica, with the edges and nodes that run.
struct replica_graph {
  std::unique_ptr<graph_builder> graph = {};
  replica_step model = {};
  edge label = {};         ///< sync: placeholder for the step that the gradients belong to
  edge next = {};          ///< sync: label of the next common step. bounded: steps of the replica
  node* train = nullptr;   ///< async and bounded; sync: stores unsent remainders, if there are any
  node* probe = nullptr;   ///< no-op on the worker
  node* prepare = nullptr; ///< clears the remainders of gradients, if parts are sent
};

/// The graph that only ps tasks run. Edges and nodes that a mode does not have are empty.
struct chief_graph {
  std::unique_ptr<graph_builder> graph = {};
  replica_step model = {};
  edge global_step = {};
  node* initializer = nullptr;
  std::vector<edge> initialized = {}; ///< for each variable: whether it has a value
  // sync
  edge label = {};            ///< placeholder
  edge required = {};         ///< elastic: placeholder for the number of gradients of a step
  node* apply = nullptr;      ///< takes the gradients, updates variables, and sets the next label
  node* set_labels = nullptr; ///< of the accumulators
  node* clear = nullptr;      ///< clears the accumulators; waiting steps fail
  node* open = nullptr;       ///< sets the label that replicas wait for
  edge opened = {};           ///< the label that was set last
  // bounded
  edge replica = {}; ///< placeholder
  node* join = nullptr;
  node* leave = nullptr;
};

struct replicas::state : std::enable_shared_from_this<replicas::state> {
  replicas_options options;
  chief_graph chief;
  std::map<int, replica_graph> workers = {};    // by number; guarded by the mutex
  std::function<replica_graph(int)> build = {}; // throws if the model differs from the chief's
  // all_reduce: graphs, of which only the last one runs. A new one is added if replicas join that
  // the last one does not have. Guarded by the mutex.
  std::vector<std::shared_ptr<replica_copies>> copies = {};
  std::function<std::shared_ptr<replica_copies>(int workers)> build_copies = {};
  std::optional<saver> checkpoints = {};
  std::shared_ptr<folder_lock> lock = {}; // of the checkpoints' folder, during a run
  std::mutex mutex = {}, event_mutex = {};
  std::condition_variable changed = {};
  bool stop_requested = false;

  bool is_sync() const { return options.mode == replica_mode::sync; }
  bool is_bounded() const { return options.mode == replica_mode::bounded; }
  // True: batches are assigned to replicas when they are ready. False: each step of each replica
  // has a fixed batch.
  bool assigns_batches() const { return !is_sync() || options.elastic; }

  // Any thread may call it, also with the mutex.
  void report_event(const replica_event& event) {
    if (!options.on_event)
      return;
    std::lock_guard guard{event_mutex};
    options.on_event(event);
  }

  void report_save_warning(const std::string& text) {
    if (const auto& warn = options.checkpoint_options.on_warning)
      warn(text);
    report_event({.kind = replica_event_kind::warning, .text = text});
  }
  void report_differences(const restore_report& report);
  void lock_folder(location where);
  /// Returns the numbers of the tasks of the worker job that the session knows.
  std::set<int> known_workers(session& in, location where) const;
  std::string newest_checkpoint() const; // its path; empty if there is none

  class loop;
  class copies_loop;
  replicas_report run(session& in, location where);
};

} // namespace troupe
