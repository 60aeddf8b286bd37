// Loops over pixels.
#pragma once
#include "troupe/ops/image/shared/color_arithmetic.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

/// output pixel = fn(input pixel).
template <class T, class Fn>
status map_pixels(kernel_context& at, Fn&& fn) {
  using value = compute_type<T>;
  const auto& dims = at.input(0).dims();
  TROUPE_TRY(check_pixels(dims));
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
  TROUPE_TRY(check_factor(at, i));
  return *at.input(i).data<float>();
}

} // namespace troupe::ops
