#include "troupe/api/train/optimizers/learning_rate.hpp"
// Adds the nodes of learning rate schedules.

#include "troupe/api/error.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>
#include <numbers>

namespace troupe {
namespace {

using location = std::source_location;

// Rejects invalid arguments with the line of the call.
void check(bool valid, const char* function, const char* requirement, location where) {
  if (!valid)
    throw error{invalid(requirement).with_context(concat(function, " (", to_string(where), ')'))};
}

edge progress(const operand& step, double decay_steps, location where) {
  return div(cast(step, dtype::f32, {}, where), decay_steps, {}, where);
}

edge periods(const operand& step, double decay_steps, const decay_options& options,
             const char* function, location where) {
  check(decay_steps > 0, function, "`decay_steps` must be above 0", where);
  auto elapsed = progress(step, decay_steps, where);
  return options.staircase ? floor(elapsed, {}, where) : elapsed;
}

} // namespace

variable_handle step_counter(graph_builder& in, location where) {
  return in.variable(tensor::scalar(int64_t{0}), "global_step", where);
}

node* count_steps(node* train, const variable_handle& counter, location where) {
  check(train != nullptr, "count_steps", "the training node is null", where);
  check(!counter.ref.is_empty(), "count_steps", "the counter is an empty edge", where);
  auto& in = counter.ref.node->graph();
  in.push_controls({train});
  graph_scope later{in, graph_scope::kind::controls};
  return assign_add(counter, tensor::scalar(int64_t{1}), {}, where).node;
}

edge exponential_decay(operand step, double initial, double decay_steps, double factor,
                       decay_options options, location where) {
  check(factor > 0, "exponential_decay", "the factor must be above 0", where);
  auto elapsed = periods(step, decay_steps, options, "exponential_decay", where);
  return mul(pow(factor, elapsed, {}, where), initial, {}, where);
}

edge inverse_time_decay(operand step, double initial, double decay_steps, double factor,
                        decay_options options, location where) {
  auto elapsed = periods(step, decay_steps, options, "inverse_time_decay", where);
  return div(initial, add(mul(elapsed, factor, {}, where), 1.0, {}, where), {}, where);
}

edge polynomial_decay(operand step, double initial, double decay_steps, polynomial_options options,
                      location where) {
  check(decay_steps > 0, "polynomial_decay", "`decay_steps` must be above 0", where);
  auto remaining = sub(1.0, minimum(progress(step, decay_steps, where), 1.0, {}, where), {}, where);
  auto share = pow(remaining, options.power, {}, where);
  return add(mul(share, initial - options.final_rate, {}, where), options.final_rate, {}, where);
}

edge cosine_decay(operand step, double initial, double decay_steps, double final_fraction,
                  location where) {
  check(decay_steps > 0, "cosine_decay", "`decay_steps` must be above 0", where);
  auto elapsed = minimum(progress(step, decay_steps, where), 1.0, {}, where);
  auto wave = cos(mul(elapsed, std::numbers::pi, {}, where), {}, where);
  auto share = mul(add(wave, 1.0, {}, where), (1 - final_fraction) / 2, {}, where);
  return mul(add(share, final_fraction, {}, where), initial, {}, where);
}

edge piecewise_constant(operand step, const std::vector<double>& boundaries,
                        const std::vector<double>& values, location where) {
  check(values.size() == boundaries.size() + 1, "piecewise_constant",
        "there must be one more value than boundaries", where);
  check(std::ranges::is_sorted(boundaries), "piecewise_constant", "boundaries must not decrease",
        where);
  auto current_step = cast(step, dtype::f64, {}, where);
  auto& in = current_step.node->graph();
  auto rate = fill(in, tensor::vector<int64_t>({}), static_cast<float>(values.back()), {}, where);
  for (size_t i = boundaries.size(); i-- > 0;)
    rate = select(less_equal(current_step, boundaries[i], {}, where), static_cast<float>(values[i]),
                  rate, {}, where);
  return rate;
}

edge warm_up(operand step, edge rate, double warm_up_steps, location where) {
  check(warm_up_steps > 0, "warm_up", "`warm_up_steps` must be above 0", where);
  return mul(rate, minimum(progress(step, warm_up_steps, where), 1.0, {}, where), {}, where);
}

} // namespace troupe
