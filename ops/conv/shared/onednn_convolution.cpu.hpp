// Convolutions of floats by oneDNN.
#pragma once
#include "troupe/ops/conv/shared/convolution_task.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The three tensors of a convolution; one of them is computed. An output may have a bias.
template <class T>
struct convolution_data {
  T *input, *filter, *output;
  const T* bias = nullptr;
};

/// Everything that can be made in advance for one shape. Shared by all steps that run at once.
class onednn_convolution {
public:
  virtual ~onednn_convolution() = default;

  /// Cuts the work into jobs for so many threads; 0: into jobs that depend on the shape alone.
  /// Returns nullptr where oneDNN has nothing for such a shape.
  static std::shared_ptr<const onednn_convolution> make(const convolution_shape& of,
                                                        convolution_role computes, int threads,
                                                        const convolution_end& end = {});

  /// Fails with `unimplemented` where oneDNN cannot do it after all.
  virtual status run(kernel_context& at, convolution_data<float> data) const = 0;
};

} // namespace troupe::ops
