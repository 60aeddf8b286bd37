#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/image/suppression.cpu.hpp"

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

// Two opposite corners, sorted.
struct box {
  explicit box(const float* corners)
      : top(std::min(corners[0], corners[2])), left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])), right(std::max(corners[1], corners[3])) {}
  float area() const { return (bottom - top) * (right - left); }
  float top, left, bottom, right;
};

float overlap(const box& a, const box& b) {
  if (!(a.area() > 0 && b.area() > 0))
    return 0;
  auto height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f),
       width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  auto shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

status run(kernel_context& at) { return suppress(at, static_cast<float>(at.state<double>())); }

} // namespace

result<float> threshold_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 0)
    return invalid("thresholds must be scalars, got shape ", at.input(i).dims());
  return as_floats(at.input(i)).front();
}

status suppress(kernel_context& at, float most_overlap, float least_score) {
  const auto &boxes = at.input(0), &scores = at.input(1), &most = at.input(2);
  if (boxes.rank() != 2 || boxes.dims()[1] != 4 || scores.rank() != 1 ||
      scores.dims()[0] != boxes.dims()[0] || most.rank() != 0)
    return invalid("boxes must be [count, 4], scores [count] and max_output_size a scalar, got ",
                   boxes.dims(), ", ", scores.dims(), " and ", most.dims());
  if (!(most_overlap >= 0 && most_overlap <= 1))
    return invalid("iou_threshold must be in [0, 1], got ", most_overlap);
  auto limit = static_cast<size_t>(std::max(*most.data<int32_t>(), 0));
  auto corners = as_floats(boxes), score = as_floats(scores);
  std::vector<int32_t> order, chosen;
  for (size_t i = 0; i < score.size(); ++i)
    if (score[i] > least_score) // not NaN
      order.push_back(static_cast<int32_t>(i));
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](int32_t i) { return score[static_cast<size_t>(i)]; });
  std::vector<box> kept;
  for (auto i : order) {
    if (chosen.size() >= limit || at.stopped())
      break;
    box next{corners.data() + 4 * static_cast<size_t>(i)};
    if (std::ranges::any_of(
            kept, [&](const box& better) { return overlap(next, better) > most_overlap; }))
      continue;
    kept.push_back(next);
    chosen.push_back(i);
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{static_cast<int64_t>(chosen.size())}));
  std::ranges::copy(chosen, out->data<int32_t>());
  return {};
}

extern constexpr kernel_def non_max_suppression_cpu{
    .op = "NonMaxSuppression",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<double, "iou_threshold">,
};

} // namespace troupe::ops
