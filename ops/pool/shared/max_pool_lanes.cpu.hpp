// Max pooling of floats and doubles over as many channels of a window at a time as fill a vector
// register, with the maxima in registers.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <limits>

namespace troupe::ops {

/// The part of a window that lies on the image: the number of elements along each axis, their
/// distances in memory, and the first element.
struct window_part {
  int64_t first, count[3], step[3];

  bool empty() const { return count[0] <= 0 || count[1] <= 0 || count[2] <= 0; }
};

inline window_part part_on_image(const window_axes& axes, const int64_t (&window)[3],
                                 int64_t channels) {
  window_part part{};
  auto step = channels;
  for (size_t i = 3; i-- > 0; step *= axes[i].in) {
    auto first = axes[i].first_in(window[i]);
    part.count[i] = axes[i].last_in(window[i]) - first;
    part.step[i] = axes[i].dilation * step;
    part.first += (window[i] * axes[i].stride - axes[i].before + first * axes[i].dilation) * step;
  }
  return part;
}

namespace detail {

// An element is better if it is larger, or the first NaN. Values that change repeatedly stay in
// registers, as GCC unrolls the innermost loops.
template <class T>
inline __attribute__((always_inline)) bool is_better(T x, T best) {
  return !(x <= best) & (best == best);
}

template <int Count, class T>
inline __attribute__((always_inline)) void keep_largest(const T* x, const window_part& part, T* y) {
  T best[Count];
#pragma GCC unroll 1
  for (int i = 0; i < Count; ++i)
    best[i] = x[i];
  for (int64_t d = 0; d < part.count[0]; ++d)
    for (int64_t r = 0; r < part.count[1]; ++r) {
      auto* from = x + d * part.step[0] + r * part.step[1];
      for (int64_t c = 0; c < part.count[2]; ++c, from += part.step[2])
#pragma GCC unroll 1
        for (int i = 0; i < Count; ++i)
          best[i] = is_better(from[i], best[i]) ? from[i] : best[i];
    }
#pragma GCC unroll 1
  for (int i = 0; i < Count; ++i)
    y[i] = best[i];
}

// Adds dy to the element of dx at the position of the maximum of x.
template <int Count, class T>
inline __attribute__((always_inline)) void
add_to_largest(const T* __restrict x, const window_part& part, const T* __restrict dy,
               T* __restrict dx) {
  using integer = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  T best[Count];
  integer chosen[Count];
#pragma GCC unroll 1
  for (int i = 0; i < Count; ++i) {
    best[i] = x[i];
    chosen[i] = 0;
  }
  integer number = 0;
  for (int64_t d = 0; d < part.count[0]; ++d)
    for (int64_t r = 0; r < part.count[1]; ++r) {
      auto* from = x + d * part.step[0] + r * part.step[1];
      for (int64_t c = 0; c < part.count[2]; ++c, from += part.step[2], ++number)
#pragma GCC unroll 1
        for (int i = 0; i < Count; ++i) {
          auto better = is_better(from[i], best[i]);
          best[i] = better ? from[i] : best[i];
          chosen[i] = better ? number : chosen[i];
        }
    }
  number = 0;
  for (int64_t d = 0; d < part.count[0]; ++d)
    for (int64_t r = 0; r < part.count[1]; ++r) {
      auto* to = dx + d * part.step[0] + r * part.step[1];
      for (int64_t c = 0; c < part.count[2]; ++c, to += part.step[2], ++number)
#pragma GCC unroll 1
        for (int i = 0; i < Count; ++i)
          to[i] = chosen[i] == number ? to[i] + dy[i] : to[i];
    }
}

} // namespace detail

/// Computes one row of windows of an image.
template <class T>
TROUPE_SIMD_CLONES void max_pool_row(const window_axes& axes, int64_t plane, int64_t row,
                                     int64_t channels, const T* image, T* y) {
  constexpr int lanes = 64 / sizeof(T);
  for (int64_t column = 0; column < axes[2].out; ++column, y += channels) {
    auto part = part_on_image(axes, {plane, row, column}, channels);
    int64_t c = 0;
    if (part.empty()) { // only padding
      for (; c < channels; ++c)
        y[c] = std::numeric_limits<T>::lowest();
      continue;
    }
    auto* from = image + part.first;
    for (; c + lanes <= channels; c += lanes)
      detail::keep_largest<lanes>(from + c, part, y + c);
    for (; c < channels; ++c)
      detail::keep_largest<1>(from + c, part, y + c);
  }
}

/// Computes channels [begin, end) of the gradient of an image. `dx` must be zero there.
template <class T>
TROUPE_SIMD_CLONES void max_pool_gradient_of_image(const window_axes& axes, int64_t channels,
                                                   int64_t begin, int64_t end, const T* image,
                                                   const T* dy, T* dx) {
  constexpr int lanes = 64 / sizeof(T);
  for (int64_t plane = 0; plane < axes[0].out; ++plane)
    for (int64_t row = 0; row < axes[1].out; ++row)
      for (int64_t column = 0; column < axes[2].out; ++column, dy += channels) {
        auto part = part_on_image(axes, {plane, row, column}, channels);
        if (part.empty())
          continue;
        auto *from = image + part.first, *to = dx + part.first;
        auto c = begin;
        for (; c + lanes <= end; c += lanes)
          detail::add_to_largest<lanes>(from + c, part, dy + c, to + c);
        for (; c < end; ++c)
          detail::add_to_largest<1>(from + c, part, dy + c, to + c);
      }
}

} // namespace troupe::ops
