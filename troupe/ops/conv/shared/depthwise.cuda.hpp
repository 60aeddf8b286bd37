// Convolutions of each channel alone, on GPUs. They read more than they compute: a thread for each
// element, without a library.
#pragma once
#include "troupe/ops/conv/shared/convolution_task.hpp"
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline result<windows> windows_of(const convolution_shape& of) {
  return place_windows(of.axes, of.images, of.in_channels, of.out_channels, of.channels_first);
}

/// What the kernels start with: output 0 is made, and is complete where there are no windows.
struct depthwise_start {
  windows on;
  tensor* out;
  int32_t multiple; ///< output channels of each input channel
  bool done;
};

inline result<depthwise_start> start_depthwise(kernel_context& at) {
  TROUPE_ASSIGN(auto what, task_of(at, at.state<convolution_setup>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, what.result));
  if (out->elements() == 0 || what.of.multiplications() == 0) {
    fill_zeros(at, *out);
    return depthwise_start{{}, out, 1, true};
  }
  TROUPE_ASSIGN(auto on, windows_of(what.of));
  return depthwise_start{on, out, on.out.channels / on.in.channels, false};
}

template <convolution_role Role>
result<std::shared_ptr<void>> prepare_depthwise(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto made, read_convolution(setup, {convolution_family::depthwise_2d, Role}));
  return std::shared_ptr<void>{std::make_shared<convolution_setup>(std::move(made))};
}

template <template <class> class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> depthwise_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel<Ts>::run}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
