// What a training run keeps, and the loop of one run() of it.
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
  std::vector<edge> initialized = {}; // for each variable of the model, whether it has a value
  std::vector<edge> local_initialized = {}; // likewise of the local ones
  node* initialize_local = nullptr;         // null where there are no local variables
  std::vector<edge> sizes = {};             // of the queues of the input
  std::optional<summary_writer> shown = {};
  std::mutex mutex = {}, telling = {};
  std::condition_variable changed = {};
  bool asked = false;
  std::map<std::string, int64_t> runs_left = {}; // of the input's runners, while it is saved
  std::optional<saver> saves = {}; // the last: what it still writes may tell something

  // Any thread, also with the mutex.
  void tell(const training_event& what) {
    if (!options.on_event)
      return;
    std::lock_guard guard{telling};
    options.on_event(what);
  }

  // Each difference between a checkpoint and the graph.
  void tell_differences(const restore_report& report) {
    for (auto& text : differences_in(report))
      tell({.what = training_event::kind::warning, .step = report.step, .text = std::move(text)});
  }

  class loop;
  void open_summaries(location where);
  training_report run(session& in, location where);
};

} // namespace troupe
