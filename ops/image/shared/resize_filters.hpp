// The source pixels that contribute to an output pixel along one axis, and their weights, on all
// devices.
#pragma once
#include "troupe/ops/image/shared/resize_geometry.hpp"

namespace troupe::ops {

/// Two neighbours, weighted by distance. As all filters do, calls visit(source pixel, weight).
struct linear_taps {
  static constexpr int64_t reach = 1; ///< this many pixels around a position contribute to it

  int64_t source;
  float scale;
  bool half_pixel;

  constexpr linear_taps(int64_t from, int64_t target, const resize_options& options)
      : source(from), scale(resize_scale(from, target, options.align_corners)),
        half_pixel(options.half_pixel) {}

  template <class Visit>
  constexpr void operator()(int64_t i, Visit visit) const {
    auto two = neighbours_of(i, source, scale, half_pixel);
    visit(two.below, 1 - two.weight);
    visit(two.above, two.weight);
  }
};

/// Four neighbours, by Keys' cubic convolution (1981).
struct cubic_taps {
  static constexpr int64_t reach = 2;

  int64_t source;
  float scale;
  bool half_pixel;

  constexpr cubic_taps(int64_t from, int64_t target, const resize_options& options)
      : source(from), scale(resize_scale(from, target, options.align_corners)),
        half_pixel(options.half_pixel) {}

  /// At a distance of up to two pixels.
  static constexpr float keys(float x, float a) {
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }

  template <class Visit>
  constexpr void operator()(int64_t i, Visit visit) const {
    auto a = half_pixel ? -0.5f : -0.75f;
    auto position = source_position(i, scale, half_pixel);
    auto index = static_cast<int64_t>(std::floor(position));
    // TensorFlow tabulates the cubic at 1024 positions only.
    auto beyond = std::nearbyint((position - std::floor(position)) * 1024) / 1024;
    float weights[] = {keys(1 + beyond, a), keys(beyond, a), keys(1 - beyond, a),
                       keys(2 - beyond, a)};
    if (half_pixel) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) {
        weights[k] *= index + k - 1 >= 0 && index + k - 1 < source ? 1.0f : 0.0f;
        sum += weights[k];
      }
      if (std::abs(sum) > 1e-30f)
        for (auto& weight : weights)
          weight /= sum;
    }
    for (int k = 0; k < 4; ++k)
      visit(std::clamp<int64_t>(index + k - 1, 0, source - 1), weights[k]);
  }
};

/// All pixels that the output pixel covers, weighted by the covered part.
struct area_taps {
  int64_t source;
  float scale;

  constexpr area_taps(int64_t from, int64_t target, const resize_options& options)
      : source(from), scale(resize_scale(from, target, options.align_corners)) {}

  template <class Visit>
  constexpr void operator()(int64_t i, Visit visit) const {
    auto begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    for (auto k = static_cast<int64_t>(std::floor(begin)); static_cast<float>(k) < end; ++k) {
      auto low = static_cast<float>(k), high = static_cast<float>(k + 1);
      auto covered = (end < high ? end : high) - (begin > low ? begin : low);
      visit(std::clamp<int64_t>(k, 0, source - 1), covered / scale);
    }
  }
};

} // namespace troupe::ops
