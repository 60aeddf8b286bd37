// A model whose variables record the steps that it has run, for tests of training runs.
#pragma once
#include "troupe/troupe.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace troupe::test {

// Adds up its feeds: the sum identifies the steps that ran, the count is their number.
struct adder {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, shape{}, "x");
  variable_handle sum = g.variable(0.0f, "sum"), count = g.variable(0.0f, "count");
  edge loss = neg(x);
  node* train = g.group({assign_add(sum, x).node, assign_add(count, 1.0f).node});
  std::vector<training_event> events;

  training_step step(int at_once = 1) const {
    return {.feeds = {x}, .loss = loss, .train = {train}, .at_once = at_once};
  }
  // Feeds n to step n.
  training_options numbered_options(int64_t steps, const std::string& folder = {}) {
    return {.batch = [](int64_t n) { return std::vector{tensor::scalar(static_cast<float>(n))}; },
            .checkpoints = folder,
            .last_step = steps,
            .retry_seconds = 0.001,
            .on_event = [this](const training_event& event) { events.push_back(event); }};
  }
  float value(session& s, edge source) const { return to_scalar<float>(s.fetch(source)); }
  std::vector<training_event::kind> kinds() const {
    std::vector<training_event::kind> result;
    for (const auto& event : events)
      result.push_back(event.what);
    return result;
  }
};

inline float sum_below(int64_t n) { return static_cast<float>(n * (n - 1) / 2); }

template <class Act>
error error_of(Act body) {
  try {
    body();
  } catch (const error& thrown) {
    return thrown;
  }
  return error{error_kind::ok, "nothing was thrown"};
}

} // namespace troupe::test
