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

bool is_flat(const pooling_layer& what) {
  return what.axes[0] == pooling_layer::axis{}; // nothing but an axis that is not there
}

// What an axis has, of those behind images and channels.
std::array<int, 5> extents_of(const pooling_layer& what, int64_t pooling_layer::axis::*extent) {
  std::array<int, 5> made{static_cast<int>(what.images), static_cast<int>(what.channels)};
  size_t first = is_flat(what) ? 1 : 0;
  for (auto i = first; i < 3; ++i)
    made[2 + i - first] = static_cast<int>(what.axes[i].*extent);
  return made;
}

result<described> describe(const pooling_layer& what) {
  using axis = pooling_layer::axis;
  described made;
  size_t rank = is_flat(what) ? 4 : 5;
  auto last = what.channels > 1; // else both ways are the same, and images are large
  auto in = extents_of(what, &axis::in), out = extents_of(what, &axis::out);
  auto size = extents_of(what, &axis::size), pad = extents_of(what, &axis::pad),
       stride = extents_of(what, &axis::stride);
  TROUPE_ASSIGN(made.x, describe_images(what.type, last, {in.data(), rank}));
  TROUPE_ASSIGN(made.y, describe_images(what.type, last, {out.data(), rank}));
  TROUPE_TRY(cudnnCreatePoolingDescriptor(made.windows.out()));
  TROUPE_TRY(cudnnSetPoolingNdDescriptor(made.windows.get(),
                                         what.largest ? CUDNN_POOLING_MAX_DETERMINISTIC
                                                      : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
                                         CUDNN_PROPAGATE_NAN, static_cast<int>(rank) - 2,
                                         size.data() + 2, pad.data() + 2, stride.data() + 2));
  return made;
}

status launch(cudnnHandle_t by, const pooling_layer& what, const described& as, const void* x,
              void* y) {
  const blending factors{what.type};
  return cudnnPoolingForward(by, as.windows.get(), factors.one(), as.x.get(), x, factors.zero(),
                             as.y.get(), y);
}

// What cuDNN does where nothing of a window lies on the image, nobody says.
bool has_full_windows(const pooling_layer::axis& of) {
  return of.pad < of.size && (of.out - 1) * of.stride - of.pad < of.in &&
         of.in + 2 * of.pad >= of.size &&
         of.out == (of.in + 2 * of.pad - of.size) / of.stride + 1 && of.size <= INT32_MAX &&
         of.stride <= INT32_MAX;
}

} // namespace

bool cudnn_offers(const pooling_layer& what) {
  const auto& [depth, rows, columns] = what.axes;
  return std::ranges::all_of(what.axes, has_full_windows) &&
         fit_cudnn({what.images, what.channels, depth.in, rows.in, columns.in}) &&
         fit_cudnn({what.images, what.channels, depth.out, rows.out, columns.out});
}

status cudnn_layers::pool(const call& at, const pooling_layer& what, const void* x, void* y) {
  TROUPE_ASSIGN(auto as, describe(what));
  return with_cudnn(at.on, [&](auto by) { return launch(by, what, as, x, y); });
}

status cudnn_layers::pool_back(const call& at, const pooling_layer& what, const void* x,
                               const void* dy, void* dx) {
  TROUPE_ASSIGN(auto as, describe(what));
  // The gradient of a maximum is looked for with the maximum itself. That of an average depends on
  // neither input nor output, but cuDNN wants to be given some.
  tensor largest;
  const auto* y = dy;
  if (what.largest) {
    const auto& [depth, rows, columns] = what.axes;
    TROUPE_ASSIGN(largest,
                  tensor::make(what.type,
                               shape{what.images, depth.out, rows.out, columns.out, what.channels},
                               at.memory));
    y = largest.raw();
  } else {
    x = dx;
  }
  const blending factors{what.type};
  return with_cudnn(at.on, [&](auto by) -> status {
    if (what.largest)
      TROUPE_TRY(launch(by, what, as, x, largest.raw()));
    return cudnnPoolingBackward(by, as.windows.get(), factors.one(), as.y.get(), y, as.y.get(), dy,
                                as.x.get(), x, factors.zero(), as.x.get(), dx);
  });
}

} // namespace troupe::gpu
#endif
