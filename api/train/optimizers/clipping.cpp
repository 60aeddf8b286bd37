#include "troupe/api/train/optimizers/clipping.hpp"
// Adds the nodes that clip gradients.

#include "troupe/api/operators.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"
#include "troupe/api/train/optimizers/scaled_gradient.hpp"

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

using location = std::source_location;

template <class Transform>
gradient_list transformed(const gradient_list& gradients, Transform transform) {
  auto results = gradients;
  for (auto& entry : results)
    entry.gradient = transform(entry.gradient);
  return results;
}

// Returns the factor for a norm: 1 if it is at most the limit. A norm that is not finite gives NaN.
edge factor(edge norm, const operand& limit, location where) {
  auto quotient = mul(limit, reciprocal(norm, {}, where), {}, where);
  auto bounded = minimum(quotient, 1.0, {}, where);
  return add(bounded, sub(norm, norm, {}, where), {}, where); // norm - norm is 0 or NaN
}

bool is_scalar(edge value) { return value.dims().has_rank() && value.dims().rank() == 0; }

// Multiplies by the factor. A sparse gradient stays sparse, unless its elements have factors of
// their own.
edge scaled(edge value, edge factor, location where) {
  if (!value.is_empty() && is_scalar(factor) && slices_of(value))
    return scaled_gradient(value, factor, where);
  return mul(value, factor, {}, where);
}

// Calls `use_rows` with the rows of a sparse gradient, each once. The nodes are on the device of
// the gradient. Returns nullopt if the gradient is dense.
template <class UseRows>
std::optional<edge> with_summed_rows(edge gradient, UseRows use_rows) {
  if (gradient.is_empty())
    return std::nullopt;
  auto& in = gradient.node->graph();
  in.push_device(gradient.node->device());
  graph_scope on{in, graph_scope::kind::device};
  if (auto rows = summed_slices_of(gradient))
    return use_rows(*rows);
  return std::nullopt;
}

// Returns half of the sum of all squared elements.
edge half_square(edge value, location where) {
  auto of_rows = with_summed_rows(value, [&](const indexed_slices& rows) {
    return l2_loss(rows.values, {}, where); // the other rows are 0
  });
  return of_rows ? *of_rows : l2_loss(value, {}, where);
}

// Returns the number of rows of the variable of a sparse gradient.
edge row_count(edge gradient) {
  const auto& producer = *gradient.node;
  return producer.op().name == "AddN" ? row_count(producer.inputs()[0]) : producer.inputs()[2];
}

// Returns a number that is known while the graph is built.
std::optional<double> known_number(const operand& x) {
  if (x.is_edge() && x.source().is_empty())
    return std::nullopt;
  const auto* value = x.is_edge() ? constant_value(x.source()) : &x.value();
  if (!value || value->rank() != 0)
    return std::nullopt;
  if (value->type() == dtype::f16)
    return static_cast<float>(*value->data<float16>());
  if (value->type() == dtype::bf16)
    return static_cast<float>(*value->data<bfloat16>());
  auto number = convert_literal(*value, dtype::f64);
  return number ? std::optional{*number->data<double>()} : std::nullopt;
}

bool is_zero_within(const operand& low, const operand& high) {
  auto known_low = known_number(low), known_high = known_number(high);
  return known_low && known_high && *known_low <= 0 && *known_high >= 0;
}

edge clipped(edge value, const operand& low, const operand& high, location where) {
  return minimum(maximum(value, low, {}, where), high, {}, where);
}

} // namespace

edge global_norm(const std::vector<edge>& values, location where) {
  std::vector<edge> halves;
  for (const auto& value : values)
    halves.push_back(half_square(value, where));
  auto half_squares = halves.size() == 1 ? halves.front() : add_n(halves, {}, where);
  return sqrt(mul(half_squares, 2.0, {}, where), {}, where);
}

edge clip_by_norm(operand x, operand limit, location where) {
  if (x.is_edge())
    return scaled(x.source(), factor(global_norm({x.source()}, where), limit, where), where);
  auto norm = sqrt(mul(l2_loss(x, {}, where), 2.0, {}, where), {}, where);
  return mul(x, factor(norm, limit, where), {}, where);
}

std::vector<edge> clip_by_global_norm(const std::vector<edge>& values, operand limit,
                                      location where) {
  auto scale = factor(global_norm(values, where), limit, where);
  std::vector<edge> clipped_values;
  for (const auto& value : values)
    clipped_values.push_back(scaled(value, scale, where));
  return clipped_values;
}

gradient_list clip_by_value(const gradient_list& gradients, operand low, operand high,
                            location where) {
  const auto keeps_zero = is_zero_within(low, high);
  return transformed(gradients, [&](edge gradient) {
    std::optional<edge> sparse;
    if (keeps_zero)
      sparse = with_summed_rows(gradient, [&](const indexed_slices& rows) {
        return unsorted_segment_sum(clipped(rows.values, low, high, where), rows.indices,
                                    row_count(gradient), {}, where);
      });
    return sparse ? *sparse : clipped(gradient, low, high, where);
  });
}

gradient_list clip_by_norm(const gradient_list& gradients, operand limit, location where) {
  return transformed(gradients,
                     [&](edge gradient) { return clip_by_norm(operand{gradient}, limit, where); });
}

gradient_list clip_by_global_norm(const gradient_list& gradients, operand limit, location where) {
  std::vector<edge> values;
  for (const auto& entry : gradients)
    values.push_back(entry.gradient);
  values = clip_by_global_norm(values, limit, where);
  auto clipped_gradients = gradients;
  for (size_t i = 0; i < clipped_gradients.size(); ++i)
    clipped_gradients[i].gradient = values[i];
  return clipped_gradients;
}

} // namespace troupe
