// Colors as hue, saturation and value (Smith 1978), on all devices.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ops {

/// A pixel's three numbers, in the type of the arithmetic.
template <class V>
using color = std::array<V, 3>;

/// The hue as a fraction of the circle, and the least and greatest of the three colors.
template <class V>
struct hue_and_range {
  V hue, low, high;
};

template <class V>
constexpr hue_and_range<V> hue_of(const color<V>& rgb) {
  auto [red, green, blue] = rgb;
  auto low = std::min({red, green, blue}), high = std::max({red, green, blue});
  V hue{0};
  if (auto range = high - low; range > 0) {
    auto turn = 1 / (6 * range);
    hue = red == high     ? turn * (green - blue)
          : green == high ? turn * (blue - red) + V(1) / 3
                          : turn * (red - green) + V(2) / 3;
    if (hue < 0)
      hue += 1;
  }
  return {hue, low, high};
}

/// The color of a hue whose components range from `low` to the greatest.
template <class V>
constexpr color<V> color_of(const hue_and_range<V>& hue) {
  auto sixth = 6 * hue.hue;
  auto share = [&](V amount) {
    return hue.low + (hue.high - hue.low) * std::clamp(amount, V{0}, V{1});
  };
  return {share(std::abs(sixth - 3) - 1), share(2 - std::abs(sixth - 2)),
          share(2 - std::abs(sixth - 4))};
}

template <class V>
constexpr color<V> to_hsv(const color<V>& rgb) {
  auto [hue, low, high] = hue_of(rgb);
  return {hue, high > 0 ? (high - low) / high : V{0}, high};
}

template <class V>
constexpr color<V> from_hsv(const color<V>& hsv) {
  return color_of<V>({hsv[0], hsv[2] * (1 - hsv[1]), hsv[2]});
}

/// The color with its hue rotated by a fraction of the circle.
template <class V>
constexpr color<V> turn_hue(const color<V>& rgb, float delta) {
  auto hue = hue_of(rgb);
  hue.hue += delta;
  hue.hue -= std::floor(hue.hue);
  return color_of(hue);
}

/// The color with its saturation multiplied.
template <class V>
constexpr color<V> scale_saturation(const color<V>& rgb, float scale) {
  auto hsv = to_hsv(rgb);
  hsv[1] = std::clamp(hsv[1] * scale, 0.0f, 1.0f);
  return from_hsv(hsv);
}

inline status check_pixels(const shape& dims) {
  if (dims.rank() > 0 && dims[dims.rank() - 1] == 3)
    return {};
  return invalid("the last axis must be 3 colors, got shape ", dims);
}

/// Input i must be a scalar.
inline status check_factor(const kernel_context& at, int i) {
  if (at.input(i).rank() == 0)
    return {};
  return invalid("input ", i, " must be a scalar, got shape ", at.input(i).dims());
}

} // namespace troupe::ops
