#include "troupe/api/train/optimizers/lbfgs.hpp"
// Minimizes a loss by L-BFGS with a line search.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <cmath>
#include <limits>

namespace troupe {
namespace {

using location = std::source_location;

edge dot(edge a, edge b, location where) { return sum(mul(a, b, {}, where), where); }

// Returns 1 / x, or 0 if x is not positive.
edge inverse_if_positive(edge x, location where) {
  auto is_positive = greater(x, 0, {}, where);
  auto divisor = select(is_positive, x, ones_like(x, {}, where), {}, where);
  return select(is_positive, div(1, divisor, {}, where), zeros_like(x, {}, where), {}, where);
}

edge joined(const std::vector<edge>& parts, location where) {
  std::vector<edge> flat;
  for (const auto& part : parts)
    flat.push_back(reshape(part, {-1}, {}, where));
  return flat.size() == 1 ? flat.front() : concatenate(flat, 0, {}, where);
}

// Returns minus the gradient, multiplied by the estimate of the inverse curvature. It is estimated
// from the last steps (rows of s) and the changes of the gradient in them (rows of y). Rows of
// zeros are ignored.
edge direction(edge gradient, edge s, edge y, int memory, location where) {
  auto steps = unpack(s, memory, {}, {}, where), changes = unpack(y, memory, {}, {}, where);
  std::vector<edge> curvature, projection(steps.size());
  for (size_t i = 0; i < steps.size(); ++i)
    curvature.push_back(inverse_if_positive(dot(steps[i], changes[i], where), where));
  auto q = gradient;
  for (size_t i = steps.size(); i-- > 0;) {
    projection[i] = mul(curvature[i], dot(steps[i], q, where), {}, where);
    q = sub(q, mul(projection[i], changes[i], {}, where), {}, where);
  }
  auto square_norm = dot(changes.back(), changes.back(), where);
  auto is_known = greater(square_norm, 0, {}, where);
  auto scale = mul(dot(steps.back(), changes.back(), where),
                   inverse_if_positive(square_norm, where), {}, where);
  auto r = mul(q, select(is_known, scale, ones_like(scale, {}, where), {}, where), {}, where);
  for (size_t i = 0; i < steps.size(); ++i) {
    auto correction = mul(curvature[i], dot(changes[i], r, where), {}, where);
    r = add(r, mul(steps[i], sub(projection[i], correction, {}, where), {}, where), {}, where);
  }
  return neg(r, {}, where);
}

// Assigns to each variable its slice of a vector with the values of all variables.
std::vector<node*> assign_slices(const std::vector<edge>& variables, edge flat, location where) {
  std::vector<node*> moves;
  int64_t begin = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    auto size = variables[i].dims().elements();
    auto variable_part = slice(flat, {begin}, {size}, {}, where);
    auto dims = variables[i].dims().known();
    auto shaped =
        reshape(variable_part, tensor::vector<int64_t>({dims.begin(), dims.end()}), {}, where);
    moves.push_back(assign(variables[i], shaped, {}, where).node);
    begin += size;
  }
  return moves;
}

// Removes the first row, and appends `row`, which has `size` elements.
node* push_row(const variable_handle& rows, edge row, int64_t size, location where) {
  auto kept_rows = slice(rows, {1, 0}, {-1, -1}, {}, where);
  auto new_row = reshape(row, {int64_t{1}, size}, {}, where);
  return assign(rows, concatenate({kept_rows, new_row}, 0, {}, where), {}, where).node;
}

} // namespace

lbfgs::lbfgs(edge loss, const std::vector<edge>& variables, const lbfgs_options& options,
             location where)
    : options_(options), loss_(loss) {
  if (options.memory < 1 || options.max_steps < 0 || options.max_trials < 1)
    reject("lbfgs", where, "memory and max_trials must be at least 1, max_steps not negative");
  auto pairs = optimizer::compute_gradients(loss, variables, where);
  auto& in = loss.node->graph();
  std::vector<edge> values, gradients;
  int64_t size = 0;
  auto type = pairs.front().variable.type();
  for (const auto& entry : pairs) {
    if (entry.variable.type() != type || !entry.variable.dims().fully_known())
      reject("lbfgs", where, entry.variable.node->description(), " is ", entry.variable.type(),
             entry.variable.dims(), "; all must be ", type, " and have known shapes");
    values.push_back(entry.variable);
    gradients.push_back(entry.gradient);
    size += entry.variable.dims().elements();
  }

  in.push_scope("lbfgs");
  graph_scope scope{in, graph_scope::kind::name};
  auto zero = value_or_throw(convert_literal(tensor::scalar(0), type));
  auto state = [&](const std::vector<int64_t>& dims, std::string_view name) {
    return detail::add_variable(in, fill(in, tensor::vector(dims), zero, {}, where), name, where);
  };
  auto steps = state({options.memory, size}, "steps");
  auto changes = state({options.memory, size}, "changes");
  auto start = state({size}, "from"), start_gradient = state({size}, "gradient");
  auto search_direction = state({size}, "direction");

  auto x = joined(values, where), gradient = joined(gradients, where);
  compute_direction_ = detail::add_group(
      in,
      {assign(start, x, {}, where).node, assign(start_gradient, gradient, {}, where).node,
       assign(search_direction, direction(gradient, steps, changes, options.memory, where), {},
              where)
           .node},
      "aim", where);
  slope_ = dot(search_direction, gradient, where);
  largest_gradient_ = max(abs(gradient, {}, where), where);

  length_ = detail::add_node(&in, "Placeholder", {}, {{"dtype", type}, {"shape", partial_shape{}}},
                             "length", where)
                .output(0);
  auto target_point = add(start, mul(search_direction, length_, {}, where), {}, where);
  move_ = detail::add_group(in, assign_slices(values, target_point, where), "move", where);

  update_history_ =
      detail::add_group(in,
                        {push_row(steps, sub(x, start, {}, where), size, where),
                         push_row(changes, sub(gradient, start_gradient, {}, where), size, where)},
                        "remember", where);
}

lbfgs::point lbfgs::evaluate(session& in, const std::vector<feed>& feeds, location where) {
  auto number = [](const tensor& scalar) {
    return value_or_throw(convert_literal(scalar, dtype::f64)).data<double>()[0];
  };
  auto results = in.run(feeds, {loss_, slope_, largest_gradient_}, {}, {}, where);
  return {number(results[0]), number(results[1]), number(results[2])};
}

lbfgs::outcome lbfgs::minimize(session& in, const std::vector<feed>& feeds, location where) {
  // Constants of the weak Wolfe conditions: for the decrease of the loss, and for its slope.
  constexpr double decrease = 1e-4, flatness = 0.9;
  auto move = [&](double length) {
    in.run({{length_, value_or_throw(convert_literal(tensor::scalar(length), length_.type()))}}, {},
           {move_}, {}, where);
  };
  outcome progress;
  for (;; ++progress.steps) {
    in.run(feeds, {}, {compute_direction_}, {}, where);
    auto start = evaluate(in, feeds, where);
    progress.loss = start.loss;
    progress.largest_gradient = start.largest_gradient;
    progress.converged = start.largest_gradient <= options_.tolerance;
    // If the slope is not negative, the direction is useless by rounding, or numbers are not
    // finite.
    if (progress.converged || progress.steps == options_.max_steps || !(start.slope < 0))
      return progress;

    double low = 0, high = std::numeric_limits<double>::infinity();
    double length = progress.steps == 0 ? std::min(1.0, 1 / std::sqrt(-start.slope)) : 1;
    bool accepted = false;
    for (int i = 0; i < options_.max_trials && !accepted; ++i) {
      move(length);
      auto trial = evaluate(in, feeds, where);
      if (!(trial.loss <= start.loss + decrease * length * start.slope))
        high = length;
      else if (trial.slope < flatness * start.slope)
        low = length;
      else
        accepted = true;
      if (!accepted)
        length = std::isfinite(high) ? (low + high) / 2 : 2 * length;
    }
    if (!accepted) {
      move(low); // the best evaluated point, or the start
      if (low == 0)
        return progress;
    }
    in.run(feeds, {}, {update_history_}, {}, where);
  }
}

} // namespace troupe
