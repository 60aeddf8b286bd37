#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/image/resize.cpu.hpp"

namespace troupe::ops {
namespace {

axis_filter area_filter(int64_t source, int64_t made, const resize_options& how) {
  axis_filter filter;
  auto scale = resize_scale(source, made, how.align_corners);
  for (int64_t i = 0; i < made; ++i) {
    auto begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    for (auto k = static_cast<int64_t>(std::floor(begin)); static_cast<float>(k) < end; ++k) {
      auto covered =
          std::min(static_cast<float>(k + 1), end) - std::max(static_cast<float>(k), begin);
      filter.add(std::clamp<int64_t>(k, 0, source - 1), covered / scale);
    }
    filter.end_pixel();
  }
  return filter;
}

status run(kernel_context& at) {
  return resize_images(at, {.align_corners = at.state<bool>()}, area_filter);
}

} // namespace

extern constexpr kernel_def resize_area_cpu{
    .op = "ResizeArea",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<bool, "align_corners">,
};

} // namespace troupe::ops
