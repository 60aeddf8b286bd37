// Poolings by cuDNN.
#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"
#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreatePoolingDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyPoolingDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetPoolingNdDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnPoolingForward);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnPoolingBackward);

using pooling_form = library_object<cudnnPoolingDescriptor_t, cudnnDestroyPoolingDescriptor>;

struct described {
  tensor_form x, y;
  pooling_form windows;
};

bool is_flat(const pooling_layer& problem) {
  return problem.axes[0] == pooling_layer::axis{}; // the default means a missing axis
}

// Returns images, channels, and one attribute of each spatial axis.
std::array<int, 5> extents_of(const pooling_layer& problem, int64_t pooling_layer::axis::*extent) {
  std::array<int, 5> described_forms{static_cast<int>(problem.images),
                                     static_cast<int>(problem.channels)};
  size_t first = is_flat(problem) ? 1 : 0;
  for (auto i = first; i < 3; ++i)
    described_forms[2 + i - first] = static_cast<int>(problem.axes[i].*extent);
  return described_forms;
}

result<described> describe(const pooling_layer& problem) {
  using axis = pooling_layer::axis;
  described described_forms;
  size_t rank = is_flat(problem) ? 4 : 5;
  auto channels_last = problem.channels > 1; // for one channel, the layouts are equal
  auto in = extents_of(problem, &axis::in), out = extents_of(problem, &axis::out);
  auto size = extents_of(problem, &axis::size), pad = extents_of(problem, &axis::pad),
       stride = extents_of(problem, &axis::stride);
  TROUPE_ASSIGN(described_forms.x, describe_images(problem.type, channels_last, {in.data(), rank}));
  TROUPE_ASSIGN(described_forms.y,
                describe_images(problem.type, channels_last, {out.data(), rank}));
  TROUPE_TRY(cudnnCreatePoolingDescriptor(described_forms.windows.out()));
  TROUPE_TRY(cudnnSetPoolingNdDescriptor(described_forms.windows.get(),
                                         problem.largest
                                             ? CUDNN_POOLING_MAX_DETERMINISTIC
                                             : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
                                         CUDNN_PROPAGATE_NAN, static_cast<int>(rank) - 2,
                                         size.data() + 2, pad.data() + 2, stride.data() + 2));
  return described_forms;
}

status launch(cudnnHandle_t handle, const pooling_layer& problem, const described& forms,
              const void* x, void* y) {
  const blending factors{problem.type};
  return cudnnPoolingForward(handle, forms.windows.get(), factors.one(), forms.x.get(), x,
                             factors.zero(), forms.y.get(), y);
}

// cuDNN does not document windows that lie outside of the image.
bool has_full_windows(const pooling_layer::axis& extent) {
  return extent.pad < extent.size && (extent.out - 1) * extent.stride - extent.pad < extent.in &&
         extent.in + 2 * extent.pad >= extent.size &&
         extent.out == (extent.in + 2 * extent.pad - extent.size) / extent.stride + 1 &&
         extent.size <= INT32_MAX && extent.stride <= INT32_MAX;
}

} // namespace

bool cudnn_offers(const pooling_layer& problem) {
  const auto& [depth, rows, columns] = problem.axes;
  return std::ranges::all_of(problem.axes, has_full_windows) &&
         fit_cudnn({problem.images, problem.channels, depth.in, rows.in, columns.in}) &&
         fit_cudnn({problem.images, problem.channels, depth.out, rows.out, columns.out});
}

status cudnn_layers::pool(const call& at, const pooling_layer& problem, const void* x, void* y) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  return with_cudnn(at.on, [&](auto handle) { return launch(handle, problem, forms, x, y); });
}

status cudnn_layers::pool_back(const call& at, const pooling_layer& problem, const void* x,
                               const void* dy, void* dx) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  // The gradient of a maximum needs the maximum. The gradient of an average depends on neither
  // input nor output, but cuDNN requires pointers to both.
  tensor largest;
  const auto* y = dy;
  if (problem.largest) {
    const auto& [depth, rows, columns] = problem.axes;
    TROUPE_ASSIGN(largest, tensor::make(problem.type,
                                        shape{problem.images, depth.out, rows.out, columns.out,
                                              problem.channels},
                                        at.memory));
    y = largest.raw();
  } else {
    x = dx;
  }
  const blending factors{problem.type};
  return with_cudnn(at.on, [&](auto handle) -> status {
    if (problem.largest)
      TROUPE_TRY(launch(handle, problem, forms, x, largest.raw()));
    return cudnnPoolingBackward(handle, forms.windows.get(), factors.one(), forms.y.get(), y,
                                forms.y.get(), dy, forms.x.get(), x, factors.zero(), forms.x.get(),
                                dx);
  });
}

} // namespace troupe::gpu
#endif
