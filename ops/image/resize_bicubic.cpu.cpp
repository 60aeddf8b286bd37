#include "troupe/ops/image/resize.cpu.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace troupe::ops {
namespace {

// Keys' cubic convolution (1981) at a distance of up to two pixels.
float keys(float distance, float a) {
  auto x = distance;
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

} // namespace

axis_filter cubic_filter(int64_t source, int64_t made, const resize_options& how) {
  axis_filter filter;
  auto scale = resize_scale(source, made, how.align_corners);
  auto a = how.half_pixel ? -0.5f : -0.75f;
  for (int64_t i = 0; i < made; ++i) {
    auto position = source_position(i, scale, how.half_pixel);
    auto index = static_cast<int64_t>(std::floor(position));
    // TensorFlow knows the cubic at 1024 places only.
    auto beyond = std::nearbyint((position - std::floor(position)) * 1024) / 1024;
    std::array weights{keys(1 + beyond, a), keys(beyond, a), keys(1 - beyond, a),
                       keys(2 - beyond, a)};
    auto inside = [&](int64_t k) { return index + k - 1 >= 0 && index + k - 1 < source; };
    if (how.half_pixel) {
      for (int64_t k = 0; k < 4; ++k)
        weights[static_cast<size_t>(k)] *= inside(k) ? 1.0f : 0.0f;
      if (auto sum = std::accumulate(weights.begin(), weights.end(), 0.0f); std::abs(sum) > 1e-30f)
        for (auto& weight : weights)
          weight /= sum;
    }
    for (int64_t k = 0; k < 4; ++k)
      filter.add(std::clamp<int64_t>(index + k - 1, 0, source - 1),
                 weights[static_cast<size_t>(k)]);
    filter.end_pixel();
  }
  return filter;
}

extern constexpr kernel_def resize_bicubic_cpu{
    .op = "ResizeBicubic",
    .run = {{dtype::none, resize_images<cubic_filter>}},
    .prepare = keep_resize_options,
};

} // namespace troupe::ops
