#include "troupe/api/train/optimizers/lbfgs.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <cmath>
#include <limits>

namespace troupe {
namespace {

using location = std::source_location;

edge dot(edge a, edge b, location where) { return sum(mul(a, b, {}, where), where); }

// 1 / x, or 0 where x is not above 0.
edge inverse_if_positive(edge x, location where) {
  auto good = greater(x, 0, {}, where);
  auto safe = select(good, x, ones_like(x, {}, where), {}, where);
  return select(good, div(1, safe, {}, where), zeros_like(x, {}, where), {}, where);
}

edge joined(const std::vector<edge>& parts, location where) {
  std::vector<edge> flat;
  for (const auto& one : parts)
    flat.push_back(reshape(one, {-1}, {}, where));
  return flat.size() == 1 ? flat.front() : concatenate(flat, 0, {}, where);
}

// Minus the gradient, times the inverse of the curvature that the last steps (rows of s) and what
// they changed the gradient by (rows of y) tell. Rows of zeros tell nothing.
edge direction(edge gradient, edge s, edge y, int memory, location where) {
  auto steps = unpack(s, memory, {}, {}, where), changes = unpack(y, memory, {}, {}, where);
  std::vector<edge> curvature, part(steps.size());
  for (size_t i = 0; i < steps.size(); ++i)
    curvature.push_back(inverse_if_positive(dot(steps[i], changes[i], where), where));
  auto q = gradient;
  for (size_t i = steps.size(); i-- > 0;) {
    part[i] = mul(curvature[i], dot(steps[i], q, where), {}, where);
    q = sub(q, mul(part[i], changes[i], {}, where), {}, where);
  }
  auto size = dot(changes.back(), changes.back(), where);
  auto known = greater(size, 0, {}, where);
  auto scale =
      mul(dot(steps.back(), changes.back(), where), inverse_if_positive(size, where), {}, where);
  auto r = mul(q, select(known, scale, ones_like(scale, {}, where), {}, where), {}, where);
  for (size_t i = 0; i < steps.size(); ++i) {
    auto back = mul(curvature[i], dot(changes[i], r, where), {}, where);
    r = add(r, mul(steps[i], sub(part[i], back, {}, where), {}, where), {}, where);
  }
  return neg(r, {}, where);
}

} // namespace

lbfgs::lbfgs(edge loss, const std::vector<edge>& variables, const lbfgs_options& options,
             location where)
    : options_(options), loss_(loss) {
  if (options.memory < 1 || options.max_steps < 0 || options.max_trials < 1)
    reject("lbfgs", where, "memory and max_trials must be at least 1, max_steps not negative");
  auto found = optimizer::compute_gradients(loss, variables, where);
  auto& in = loss.node->graph();
  std::vector<edge> values, gradients;
  std::vector<int64_t> sizes;
  int64_t size = 0;
  auto type = found.front().variable.type();
  for (const auto& one : found) {
    if (one.variable.type() != type || !one.variable.dims().fully_known())
      reject("lbfgs", where, one.variable.node->description(), " is ", one.variable.type(),
             one.variable.dims(), "; all must be ", type, " and have known shapes");
    values.push_back(one.variable);
    gradients.push_back(one.gradient);
    sizes.push_back(one.variable.dims().elements());
    size += sizes.back();
  }

  in.push_scope("lbfgs");
  graph_scope scope{in, graph_scope::kind::name};
  auto zero = value_or_throw(converted(tensor::scalar(0), type));
  auto state = [&](const std::vector<int64_t>& dims, std::string_view name) {
    return detail::add_variable(in, fill(in, tensor::vector(dims), zero, {}, where), name, where);
  };
  auto steps = state({options.memory, size}, "steps");
  auto changes = state({options.memory, size}, "changes");
  auto from = state({size}, "from"), gradient_there = state({size}, "gradient");
  auto way = state({size}, "direction");

  auto x = joined(values, where), gradient = joined(gradients, where);
  aim_ = detail::add_group(
      in,
      {assign(from, x, {}, where).node, assign(gradient_there, gradient, {}, where).node,
       assign(way, direction(gradient, steps, changes, options.memory, where), {}, where).node},
      "aim", where);
  slope_ = dot(way, gradient, where);
  largest_ = max(abs(gradient, {}, where), where);

  length_ = detail::add_node(&in, "Placeholder", {}, {{"dtype", type}, {"shape", partial_shape{}}},
                             "length", where)
                .output(0);
  auto there = add(from, mul(way, length_, {}, where), {}, where);
  std::vector<node*> moves;
  int64_t begin = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    auto piece = slice(there, {begin}, {sizes[i]}, {}, where);
    auto dims = values[i].dims().known();
    auto shaped = reshape(piece, tensor::vector<int64_t>({dims.begin(), dims.end()}), {}, where);
    moves.push_back(assign(values[i], shaped, {}, where).node);
    begin += sizes[i];
  }
  move_ = detail::add_group(in, moves, "move", where);

  auto push = [&](const variable_handle& rows, edge row) {
    auto old = slice(rows, {1, 0}, {-1, -1}, {}, where);
    auto fresh = reshape(row, {int64_t{1}, size}, {}, where);
    return assign(rows, concatenate({old, fresh}, 0, {}, where), {}, where).node;
  };
  remember_ = detail::add_group(in,
                                {push(steps, sub(x, from, {}, where)),
                                 push(changes, sub(gradient, gradient_there, {}, where))},
                                "remember", where);
}

lbfgs::point lbfgs::look(session& in, const std::vector<feed>& feeds, location where) {
  auto number = [](const tensor& one) {
    return value_or_throw(converted(one, dtype::f64)).data<double>()[0];
  };
  auto found = in.run(feeds, {loss_, slope_, largest_}, {}, {}, where);
  return {number(found[0]), number(found[1]), number(found[2])};
}

lbfgs::outcome lbfgs::minimize(session& in, const std::vector<feed>& feeds, location where) {
  constexpr double enough = 1e-4, flat = 0.9; // of the loss's fall, and of its slope (Wolfe)
  auto move = [&](double length) {
    in.run({{length_, value_or_throw(converted(tensor::scalar(length), length_.type()))}}, {},
           {move_}, {}, where);
  };
  outcome so_far;
  for (;; ++so_far.steps) {
    in.run(feeds, {}, {aim_}, {}, where);
    auto start = look(in, feeds, where);
    so_far.loss = start.loss;
    so_far.largest_gradient = start.largest_gradient;
    so_far.converged = start.largest_gradient <= options_.tolerance;
    // Not below 0: rounding has made the direction useless, or numbers are not finite.
    if (so_far.converged || so_far.steps == options_.max_steps || !(start.slope < 0))
      return so_far;

    double low = 0, high = std::numeric_limits<double>::infinity();
    double length = so_far.steps == 0 ? std::min(1.0, 1 / std::sqrt(-start.slope)) : 1;
    bool found = false;
    for (int i = 0; i < options_.max_trials && !found; ++i) {
      move(length);
      auto here = look(in, feeds, where);
      if (!(here.loss <= start.loss + enough * length * start.slope))
        high = length;
      else if (here.slope < flat * start.slope)
        low = length;
      else
        found = true;
      if (!found)
        length = std::isfinite(high) ? (low + high) / 2 : 2 * length;
    }
    if (!found) {
      move(low); // the best point that was seen; at worst where it began
      if (low == 0)
        return so_far;
    }
    in.run(feeds, {}, {remember_}, {}, where);
  }
}

} // namespace troupe
