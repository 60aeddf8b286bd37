#include "troupe/ops/conv/shared/dilation.cuda.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::dilation2d_backprop_filter_gpu {
namespace {

// What a window adds to an element of the filter.
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
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_TRY(expect_output(of, at.input(2).dims()));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
    const auto& dy = at.input(2);
    if (out->elements() == 0 || dy.elements() == 0) {
      fill_zeros(at, *out);
      return {};
    }
    TROUPE_ASSIGN(auto on, gpu::windows_of(of));
    TROUPE_ASSIGN(auto chosen, gpu::launch_find_sums<T>(at, of, on));
    auto items = dy.elements() / of.channels;
    return gpu::reduce_each<addition, compute_type<T>>(
        at, out->elements(), items, true,
        dilation_filter_source<T>{of.channels, chosen.template data<int32_t>(), dy.data<T>()},
        gpu::store_total<addition, T>{out->template data<T>(), items});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(dilation2d_backprop_filter){
    .op = "Dilation2DBackpropFilter",
    .device = device_kind::gpu,
    .run = gpu::dilation_kernels<dilation_filter>(types::floating),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_backprop_filter_gpu
