// Colors as hue, saturation and value (Smith 1978), and loops over pixels.
#pragma once
#include "troupe/ops/element_types.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

/// A pixel's three numbers, as arithmetic wants them.
template <class V>
using color = std::array<V, 3>;

/// The hue as fraction of a turn, and the least and greatest of the three colors.
template <class V>
struct hue_and_range {
  V hue, low, high;
};

template <class V>
hue_and_range<V> hue_of(const color<V>& rgb) {
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

/// The color of a hue that goes from `low` to `high`.
template <class V>
color<V> color_of(const hue_and_range<V>& of) {
  auto sixth = 6 * of.hue;
  auto share = [&](V amount) {
    return of.low + (of.high - of.low) * std::clamp(amount, V{0}, V{1});
  };
  return {share(std::abs(sixth - 3) - 1), share(2 - std::abs(sixth - 2)),
          share(2 - std::abs(sixth - 4))};
}

template <class V>
color<V> to_hsv(const color<V>& rgb) {
  auto [hue, low, high] = hue_of(rgb);
  return {hue, high > 0 ? (high - low) / high : V{0}, high};
}

template <class V>
color<V> from_hsv(const color<V>& hsv) {
  return color_of<V>({hsv[0], hsv[2] * (1 - hsv[1]), hsv[2]});
}

/// output pixel = fn(input pixel).
template <class T, class Fn>
status map_pixels(kernel_context& at, Fn&& fn) {
  using value = compute_type<T>;
  const auto& dims = at.input(0).dims();
  if (dims.rank() == 0 || dims[dims.rank() - 1] != 3)
    return invalid("the last axis must be 3 colors, got shape ", dims);
  const auto* from = at.input(0).data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  auto* to = out->template data<T>();
  at.parallel_for(out->elements() / 3, 15, [&](int64_t begin, int64_t end) {
    for (auto i = 3 * begin; i < 3 * end; i += 3) {
      color<value> pixel{value(widen(from[i])), value(widen(from[i + 1])),
                         value(widen(from[i + 2]))};
      pixel = fn(pixel);
      for (int64_t c = 0; c < 3; ++c)
        to[i + c] = static_cast<T>(pixel[static_cast<size_t>(c)]);
    }
  });
  return {};
}

/// The float in scalar input i.
inline result<float> factor_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 0)
    return invalid("input ", i, " must be a scalar, got shape ", at.input(i).dims());
  return *at.input(i).data<float>();
}

} // namespace troupe::ops
