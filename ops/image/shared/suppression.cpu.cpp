#include "troupe/ops/image/shared/suppression.cpu.hpp"

#include "troupe/ops/image/shared/boxes.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

std::vector<float> as_floats(const tensor& from) {
  if (from.type() == dtype::f32)
    return {from.values<float>().begin(), from.values<float>().end()};
  std::vector<float> to;
  for (auto value : from.values<float16>())
    to.push_back(static_cast<float>(value));
  return to;
}

} // namespace

result<float> threshold_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 0)
    return invalid("thresholds must be scalars, got shape ", at.input(i).dims());
  return as_floats(at.input(i)).front();
}

status suppress(kernel_context& at, float max_overlap, float least_score) {
  TROUPE_ASSIGN(auto output_limit, check_boxes(at));
  const auto &boxes = at.input(0), &scores = at.input(1);
  if (!(max_overlap >= 0 && max_overlap <= 1))
    return invalid("iou_threshold must be in [0, 1], got ", max_overlap);
  auto limit = static_cast<size_t>(output_limit);
  auto corners = as_floats(boxes), score = as_floats(scores);
  std::vector<int32_t> order, chosen;
  for (size_t i = 0; i < score.size(); ++i)
    if (score[i] > least_score) // excludes NaN
      order.push_back(static_cast<int32_t>(i));
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](int32_t i) { return score[static_cast<size_t>(i)]; });
  std::vector<box> kept;
  for (auto i : order) {
    if (chosen.size() >= limit || at.stopped())
      break;
    box next{corners.data() + 4 * static_cast<size_t>(i)};
    if (std::ranges::any_of(kept,
                            [&](const box& better) { return overlap(next, better) > max_overlap; }))
      continue;
    kept.push_back(next);
    chosen.push_back(i);
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{static_cast<int64_t>(chosen.size())}));
  std::ranges::copy(chosen, out->data<int32_t>());
  return {};
}

} // namespace troupe::ops
