#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

status add_bias(gpu_device& target, const biased_result& output, const epilogue& applied) {
  if (output.elements() == 0)
    return {};
  auto* bias_kernels = target.driver().as_bias();
  if (!bias_kernels)
    return failure(error_kind::unimplemented, "the driver of ", to_string(target.kind()), ':',
                   target.ordinal(), " adds no biases");
  return bias_kernels->add_bias(output, applied, target.compute());
}

} // namespace troupe::gpu
