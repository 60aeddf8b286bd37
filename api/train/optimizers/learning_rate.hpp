// Learning rate schedules. Each returns an f32 scalar for the rate of an optimizer. `step` is a
// number of any type, often the variable that count_steps() increments.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

/// Adds a counter, i64 and initially 0, called "global_step".
TROUPE_API variable_handle
step_counter(graph_builder& in, std::source_location where = std::source_location::current());

/// Returns the node that takes the step `train` and then adds 1 to the counter.
TROUPE_API node* count_steps(node* train, const variable_handle& counter,
                             std::source_location where = std::source_location::current());

struct decay_options {
  bool staircase = false; ///< changes the rate only once in `decay_steps` steps
};

/// initial * factor ^ (step / decay_steps).
TROUPE_API edge exponential_decay(operand step, double initial, double decay_steps, double factor,
                                  decay_options options = {},
                                  std::source_location where = std::source_location::current());

/// initial / (1 + factor * step / decay_steps).
TROUPE_API edge inverse_time_decay(operand step, double initial, double decay_steps, double factor,
                                   decay_options options = {},
                                   std::source_location where = std::source_location::current());

struct polynomial_options {
  double final_rate = 1e-4; ///< from the step `decay_steps` on
  double power = 1;
};
/// From `initial` to `final_rate` within `decay_steps` steps: (initial - final_rate) * (1 - step /
/// decay_steps) ^ power + final_rate.
TROUPE_API edge polynomial_decay(operand step, double initial, double decay_steps,
                                 polynomial_options options = {},
                                 std::source_location where = std::source_location::current());

/// From `initial` to `initial * final_fraction` within `decay_steps` steps, along half a cosine
/// (Loshchilov and Hutter 2017).
TROUPE_API edge cosine_decay(operand step, double initial, double decay_steps,
                             double final_fraction = 0,
                             std::source_location where = std::source_location::current());

/// values[i] as long as step <= boundaries[i], then the last value. `values` has one more element
/// than `boundaries`.
TROUPE_API edge piecewise_constant(operand step, const std::vector<double>& boundaries,
                                   const std::vector<double>& values,
                                   std::source_location where = std::source_location::current());

/// Grows from 0 to `rate` within the first `warm_up_steps` steps.
TROUPE_API edge warm_up(operand step, edge rate, double warm_up_steps,
                        std::source_location where = std::source_location::current());

} // namespace troupe
