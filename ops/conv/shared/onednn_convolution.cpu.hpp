// Convolutions of floats by oneDNN.
#pragma once
#include "troupe/ops/conv/shared/convolution_task.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The three tensors of a convolution; one of them is computed. A forward convolution may have a
/// bias.
template <class T>
struct convolution_data {
  T *input, *filter, *output;
  const T* bias = nullptr;
};

/// The prepared state for one shape. Concurrent steps share it.
class onednn_convolution {
public:
  virtual ~onednn_convolution() = default;

  /// Divides the work into jobs for this many threads; 0: into jobs that depend on the shape alone.
  /// Returns nullptr where oneDNN does not implement the shape.
  static std::shared_ptr<const onednn_convolution> make(const convolution_shape& geometry,
                                                        convolution_role computes, int threads,
                                                        const convolution_end& end = {});

  /// Fails with `unimplemented` where oneDNN rejects the work only at run time.
  virtual status run(kernel_context& at, convolution_data<float> data) const = 0;
};

} // namespace troupe::ops
