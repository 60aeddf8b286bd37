// Morphological dilations on GPUs.
#pragma once
#include "troupe/ops/conv/shared/dilation_kernels.hpp"
#include "troupe/ops/conv/shared/windows.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline result<windows> windows_of(const dilation& of) {
  return place_windows(of.axes, of.images, of.channels, of.channels, false);
}

/// The largest sum of a window and which element has it: the first on the input where all are NaN,
/// -1 where none is on the input.
template <class T>
struct largest_of_sums {
  compute_type<T> sum = std::numeric_limits<compute_type<T>>::lowest();
  int32_t k = -1;

  TROUPE_DEVICE largest_of_sums(const windows& on, const T* x, const T* filter,
                                const spot& window) {
    on.for_each_element(
        window.at, on.in.plane(window.image, window.channel), [&](int32_t element, int64_t from) {
          auto here =
              load(x[from]) + load(filter[int64_t{element} * on.in.channels + window.channel]);
          if (here > sum) {
            sum = here;
            k = element;
          } else if (k < 0) {
            k = element;
          }
        });
  }
};

template <class T>
struct find_sums_body {
  windows on;
  const T *x, *filter;
  int32_t* chosen;
  TROUPE_DEVICE void operator()(int64_t i) const {
    chosen[i] = largest_of_sums<T>{on, x, filter, on.out.locate(i)}.k;
  }
};

/// Of each window the element that has the largest sum.
template <class T>
result<tensor> launch_find_sums(kernel_context& at, const dilation& of, const windows& on) {
  TROUPE_ASSIGN(auto made, tensor::make(dtype::i32, of.output, at.memory()));
  TROUPE_TRY(for_each(at, made.elements(),
                      find_sums_body<T>{on, at.input(0).data<T>(), at.input(1).data<T>(),
                                        made.template data<int32_t>()}));
  return made;
}

template <template <class> class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> dilation_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel<Ts>::run}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
