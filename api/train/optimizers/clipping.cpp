#include "troupe/api/train/optimizers/clipping.hpp"
// Adds the nodes that clip gradients.

#include "troupe/api/operators.hpp"

#include <algorithm>

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

} // namespace

edge global_norm(const std::vector<edge>& values, location where) {
  std::vector<edge> halves;
  for (const auto& value : values)
    halves.push_back(l2_loss(value, {}, where));
  auto half_squares = halves.size() == 1 ? halves.front() : add_n(halves, {}, where);
  return sqrt(mul(half_squares, 2.0, {}, where), {}, where);
}

edge clip_by_norm(operand x, operand limit, location where) {
  auto norm = sqrt(mul(l2_loss(x, {}, where), 2.0, {}, where), {}, where);
  return mul(x, factor(norm, limit, where), {}, where);
}

std::vector<edge> clip_by_global_norm(const std::vector<edge>& values, operand limit,
                                      location where) {
  auto scale = factor(global_norm(values, where), limit, where);
  std::vector<edge> clipped;
  for (const auto& value : values)
    clipped.push_back(mul(value, scale, {}, where));
  return clipped;
}

gradient_list clip_by_value(const gradient_list& gradients, operand low, operand high,
                            location where) {
  return transformed(gradients, [&](edge gradient) {
    return minimum(maximum(gradient, low, {}, where), high, {}, where);
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
  auto clipped = gradients;
  for (size_t i = 0; i < clipped.size(); ++i)
    clipped[i].gradient = values[i];
  return clipped;
}

} // namespace troupe
