// What Reciprocal and Inv, its old name, share.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// dx = -dy * y^2
inline edges reciprocal_gradient(gradient_context& at) {
  return {build("ReciprocalGrad", {at.output(0), at.output_gradient(0)})};
}

} // namespace troupe::ops
