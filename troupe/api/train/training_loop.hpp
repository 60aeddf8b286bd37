// What a training run keeps, and the loop of one run() of it.
#pragma once
#include "troupe/api/train/training_run.hpp"

#include <condition_variable>
#include <mutex>

namespace troupe {

struct training_run::state {
  graph_builder& graph;
  std::vector<training_step> steps;
  training_options options;
  std::vector<edge> initialized = {}; // for each variable, whether it has a value
  std::vector<edge> sizes = {};       // of the queues of the input
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

  // What a checkpoint does not have, and is now as it was.
  void tell_missing(const restore_report& of) {
    for (const auto& one : of.missing)
      tell({.what = training_event::kind::warning,
            .step = of.step,
            .text = concat(of.path, ": does not have ", one)});
  }

  class loop;
  training_report run(session& in, location where);
};

} // namespace troupe
