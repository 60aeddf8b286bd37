// GPU kernels that map the color of each pixel.
#pragma once
#include "troupe/ops/image/shared/color_arithmetic.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// `factor` is a scalar on the device, or null.
template <class T, class Fn>
struct pixel_body {
  const T* x;
  const float* factor;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    using value = compute_type<T>;
    color<value> pixel{load(x[3 * i]), load(x[3 * i + 1]), load(x[3 * i + 2])};
    pixel = Fn::recolor(pixel, factor ? *factor : 0.f);
    for (int c = 0; c < 3; ++c)
      y[3 * i + c] = store<T>(pixel[static_cast<size_t>(c)]);
  }
};

/// output pixel = Fn::recolor(input pixel, input 1), where there is an input 1.
template <class T, class Fn>
status map_pixels(kernel_context& at) {
  const float* factor = nullptr;
  if (at.inputs() > 1) {
    TROUPE_TRY(check_factor(at, 1));
    factor = at.input(1).data<float>();
  }
  const auto& dims = at.input(0).dims();
  TROUPE_TRY(check_pixels(dims));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  return for_each(at, out->elements() / 3,
                  pixel_body<T, Fn>{at.input(0).data<T>(), factor, out->template data<T>()});
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> pixel_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, map_pixels<Ts, Fn>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
