#include "troupe/ops/conv/shared/dilation_kernels.hpp"
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline result<windows> windows_of(const dilation& geometry) {
  return place_windows(geometry.axes, geometry.images, geometry.channels, geometry.channels, false);
}

// Finds which element has a window's largest sum: the first on the input where all sums are NaN, -1
// where no element lies on the input.
template <class T>
struct largest_of_sums {
  compute_type<T> sum = std::numeric_limits<compute_type<T>>::lowest();
  int32_t k = -1;

  TROUPE_DEVICE largest_of_sums(const windows& on, const T* x, const T* filter,
                                const spot& window) {
    on.for_each_element(
        window.at, on.in.plane(window.image, window.channel), [&](int32_t element, int64_t from) {
          auto sum_here =
              load(x[from]) + load(filter[int64_t{element} * on.in.channels + window.channel]);
          if (sum_here > sum) {
            sum = sum_here;
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

// The element with the largest sum, per window.
template <class T>
result<tensor> launch_find_sums(kernel_context& at, const dilation& geometry, const windows& on) {
  TROUPE_ASSIGN(auto elements, tensor::make(dtype::i32, geometry.output, at.memory()));
  TROUPE_TRY(for_each(at, elements.elements(),
                      find_sums_body<T>{on, at.input(0).data<T>(), at.input(1).data<T>(),
                                        elements.template data<int32_t>()}));
  return elements;
}

template <template <class> class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> dilation_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel<Ts>::run}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::dilation2d_gpu {
namespace {

template <class T>
struct dilate_body {
  gpu::windows on;
  const T *x, *filter;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    y[i] = gpu::store<T>(gpu::largest_of_sums<T>{on, x, filter, on.out.locate(i)}.sum);
  }
};

template <class T>
struct dilate_on_gpu {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto on, gpu::windows_of(geometry));
    return gpu::for_each(
        at, out->elements(),
        dilate_body<T>{on, at.input(0).data<T>(), at.input(1).data<T>(), out->template data<T>()});
  }
};

// The terms that the windows add to an element of the filter.
template <class T>
struct dilation_filter_source {
  int64_t channels;
  const int32_t* chosen;
  const T* dy;
  TROUPE_DEVICE compute_type<T> operator()(int64_t output, int64_t item) const {
    auto k = output / channels, window = item * channels + output % channels;
    return chosen[window] == k ? gpu::load(dy[window]) : compute_type<T>{};
  }
};

template <class T>
struct dilation_filter {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_TRY(expect_output(geometry, at.input(2).dims()));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
    const auto& dy = at.input(2);
    if (out->elements() == 0 || dy.elements() == 0) {
      fill_zeros(at, *out);
      return {};
    }
    TROUPE_ASSIGN(auto on, gpu::windows_of(geometry));
    TROUPE_ASSIGN(auto chosen, gpu::launch_find_sums<T>(at, geometry, on));
    auto items = dy.elements() / geometry.channels;
    return gpu::reduce_each<addition, compute_type<T>>(
        at, out->elements(), items, true,
        dilation_filter_source<T>{geometry.channels, chosen.template data<int32_t>(), dy.data<T>()},
        gpu::store_total<addition, T>{out->template data<T>(), items});
  }
};

template <class T>
struct dilation_input_body {
  gpu::windows on;
  const int32_t* chosen;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = on.in.locate(i);
    compute_type<T> sum{};
    on.for_each_window(position.at, on.out.plane(position.image, position.channel),
                       [&](int32_t k, int64_t window, const int32_t(&)[3]) {
                         if (chosen[window] == k)
                           sum += gpu::load(dy[window]);
                       });
    dx[i] = gpu::store<T>(sum);
  }
};

template <class T>
struct dilation_input {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_TRY(expect_output(geometry, at.input(2).dims()));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    if (out->elements() == 0)
      return {};
    TROUPE_ASSIGN(auto on, gpu::windows_of(geometry));
    TROUPE_ASSIGN(auto chosen, gpu::launch_find_sums<T>(at, geometry, on));
    return gpu::for_each(at, out->elements(),
                         dilation_input_body<T>{on, chosen.template data<int32_t>(),
                                                at.input(2).data<T>(), out->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d){
    .op = "Dilation2D",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilate_on_gpu>(types::floating),
    .prepare = prepare_dilation,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d_backprop_filter){
    .op = "Dilation2DBackpropFilter",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilation_filter>(types::floating),
    .prepare = prepare_dilation,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d_backprop_input){
    .op = "Dilation2DBackpropInput",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilation_input>(types::floating),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_gpu
