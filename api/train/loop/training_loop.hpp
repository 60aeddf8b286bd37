// The state of a training run, and the loop of one run() of it.
#pragma once
#include "troupe/api/train/loop/training_run.hpp"
#include "troupe/api/train/loop/training_values.hpp"

#include <condition_variable>
#include <mutex>

namespace troupe {

struct training_run::state {
  graph_builder& graph;
  std::vector<training_step> steps;
  training_options options;
  std::vector<edge> initialized = {}; // for each variable of the model: whether it has a value
  std::vector<edge> local_initialized = {}; // the same for local variables
  node* initialize_local = nullptr;         // null if there are no local variables
  std::vector<edge> queue_sizes = {};       // of the input
  std::optional<summary_writer> summary_file = {};
  std::mutex mutex = {}, event_mutex = {};
  std::condition_variable changed = {};
  bool stop_requested = false;
  std::map<std::string, int64_t> runs_left = {}; // of the input's runners, at the last save
  std::optional<saver> checkpoints = {};         // last member: its pending writes report events

  // Any thread may call it, also with the mutex.
  void report_event(const training_event& event) {
    if (!options.on_event)
      return;
    std::lock_guard guard{event_mutex};
    options.on_event(event);
  }

  // Reports each difference between a checkpoint and the graph.
  void report_differences(const restore_report& report) {
    for (auto& text : differences_in(report))
      report_event(
          {.kind = training_event_kind::warning, .step = report.step, .text = std::move(text)});
  }

  class loop;
  void open_summaries(location where);
  training_report run(session& in, location where);
};

} // namespace troupe
