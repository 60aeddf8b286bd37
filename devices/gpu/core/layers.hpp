// The interface of libraries for layers of neural networks on a GPU.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <array>
#include <variant>

namespace troupe::gpu {

/// A pooling of dense images [images, axes..., channels], for each channel separately.
struct pooling_layer {
  /// Both ends are padded by `pad`, which no window counts.
  struct axis {
    int64_t in = 1, size = 1, stride = 1, pad = 0, out = 1;
    auto operator<=>(const axis&) const = default;
  };

  bool largest = true;   ///< else the average of the window's elements on the image
  bool backward = false; ///< the gradient of the input
  dtype type = dtype::f32;
  int64_t images = 0, channels = 0;
  std::array<axis, 3> axes = {};

  auto operator<=>(const pooling_layer&) const = default;
};

/// The softmax of each row of [rows, classes], or its logarithm.
struct softmax_layer {
  bool logarithm = false;
  dtype type = dtype::f32;
  int64_t rows = 0, classes = 0;

  auto operator<=>(const softmax_layer&) const = default;
};

/// x / (bias + alpha * the sum of squares up to `radius` channels away) ^ beta, of dense images
/// [images, rows, columns, channels].
struct lrn_layer {
  bool backward = false;
  dtype type = dtype::f32;
  int64_t images = 0, rows = 0, columns = 0, channels = 0, radius = 0;
  double bias = 1, alpha = 1, beta = 1;

  auto operator<=>(const lrn_layer&) const = default;
};

/// (x - mean) / sqrt(variance + epsilon) * scale + offset for each channel of dense images, with
/// the channels last or after the images. Per-channel numbers are f64 for f64, else f32.
struct batch_norm_layer {
  enum class step : uint8_t { training, inference, backward };

  step computes = step::training; ///< backward: of a training step
  dtype type = dtype::f32;
  bool channels_last = false;
  int64_t images = 0, channels = 0;
  std::array<int64_t, 3> extents{1, 1, 1}; ///< 1 for missing axes
  double epsilon = 0;

  auto operator<=>(const batch_norm_layer&) const = default;
};

using layer = std::variant<pooling_layer, softmax_layer, lrn_layer, batch_norm_layer>;

/// Launches layers. Pointers are to device memory, and no extent is 0. All of an output is written,
/// with the same bits for the same inputs. Thread-safe, also during captures. A layer that offers()
/// accepts may still fail.
class layer_library {
public:
  struct call {
    gpu_device& on;
    allocator& memory; ///< for temporary memory
  };

  virtual ~layer_library() = default;

  /// Whether the library computes the layer, as far as is known without trying.
  virtual bool offers(const layer& candidate) const = 0;

  virtual status pool(const call& at, const pooling_layer& pooling, const void* x, void* y) = 0;
  /// The library chooses which of equal largest elements gets a window's gradient. Averages do not
  /// read x, which may be null.
  virtual status pool_back(const call& at, const pooling_layer& pooling, const void* x,
                           const void* dy, void* dx) = 0;
  /// y may be x.
  virtual status softmax(const call& at, const softmax_layer& problem, const void* x, void* y) = 0;
  virtual status lrn(const call& at, const lrn_layer& problem, const void* x, void* y) = 0;
  virtual status lrn_back(const call& at, const lrn_layer& problem, const void* x, const void* y,
                          const void* dy, void* dx) = 0;
  /// Numbers for each channel.
  struct factors {
    const void *scale, *offset;
  };
  /// Training writes the mean and the variance of the batch; the sum of squares is divided by the
  /// number of elements minus one. Inference reads them.
  virtual status normalize(const call& at, const batch_norm_layer& problem, const void* x,
                           const factors& affine, void* mean, void* variance, void* y) = 0;
  /// `inverse` is 1 / sqrt(variance + epsilon), of the variance that was used.
  struct normalized {
    const void *x, *scale, *mean, *inverse;
  };
  virtual status normalize_back(const call& at, const batch_norm_layer& problem,
                                const normalized& forward, const void* dy, void* dx, void* dscale,
                                void* doffset) = 0;
};

} // namespace troupe::gpu
