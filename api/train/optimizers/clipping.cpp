#include "troupe/api/train/optimizers/clipping.hpp"

#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe {
namespace {

using location = std::source_location;

template <class Change>
gradient_list changed(const gradient_list& gradients, Change change) {
  auto made = gradients;
  for (auto& one : made)
    one.gradient = change(one.gradient);
  return made;
}

// What to multiply by, for a norm n: 1 where it is small enough. Both quotients are tried, so that
// neither a norm of 0 nor an infinite one gives a factor that looks harmless.
edge factor(edge norm, const operand& limit, location where) {
  auto most = mul(limit, reciprocal(norm, {}, where), {}, where);
  auto small = minimum(most, 1.0, {}, where);
  return add(small, sub(norm, norm, {}, where), {}, where); // NaN where the norm is not finite
}

} // namespace

edge global_norm(const std::vector<edge>& values, location where) {
  std::vector<edge> halves;
  for (const auto& one : values)
    halves.push_back(l2_loss(one, {}, where));
  auto all = halves.size() == 1 ? halves.front() : add_n(halves, {}, where);
  return sqrt(mul(all, 2.0, {}, where), {}, where);
}

edge clip_by_norm(operand x, operand limit, location where) {
  auto norm = sqrt(mul(l2_loss(x, {}, where), 2.0, {}, where), {}, where);
  return mul(x, factor(norm, limit, where), {}, where);
}

std::vector<edge> clip_by_global_norm(const std::vector<edge>& values, operand limit,
                                      location where) {
  auto by = factor(global_norm(values, where), limit, where);
  std::vector<edge> clipped;
  for (const auto& one : values)
    clipped.push_back(mul(one, by, {}, where));
  return clipped;
}

gradient_list clip_by_value(const gradient_list& gradients, operand low, operand high,
                            location where) {
  return changed(gradients,
                 [&](edge one) { return minimum(maximum(one, low, {}, where), high, {}, where); });
}

gradient_list clip_by_norm(const gradient_list& gradients, operand limit, location where) {
  return changed(gradients, [&](edge one) { return clip_by_norm(operand{one}, limit, where); });
}

gradient_list clip_by_global_norm(const gradient_list& gradients, operand limit, location where) {
  std::vector<edge> values;
  for (const auto& one : gradients)
    values.push_back(one.gradient);
  values = clip_by_global_norm(values, limit, where);
  auto made = gradients;
  for (size_t i = 0; i < made.size(); ++i)
    made[i].gradient = values[i];
  return made;
}

} // namespace troupe
