#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

status add_bias(gpu_device& on, const biased_result& to, const epilogue& what) {
  if (to.elements() == 0)
    return {};
  auto* by = on.driver().as_bias();
  if (!by)
    return failure(error_kind::unimplemented, "the driver of ", to_string(on.kind()), ':',
                   on.ordinal(), " adds no biases");
  return by->add_bias(to, what, on.compute());
}

} // namespace troupe::gpu
