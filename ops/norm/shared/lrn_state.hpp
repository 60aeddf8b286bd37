// Shared by the kernels of LRN and its gradient, on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct lrn_state {
  int64_t radius;
  double bias, alpha, beta;

  static result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
    const auto& lrn_node = setup.origin;
    auto radius = lrn_node.attr<int64_t>("depth_radius");
    if (radius < 0)
      return invalid("depth_radius must not be negative, got ", radius);
    return std::shared_ptr<void>{std::make_shared<lrn_state>(
        lrn_state{radius, lrn_node.attr<double>("bias"), lrn_node.attr<double>("alpha"),
                  lrn_node.attr<double>("beta")})};
  }
};

inline status check_lrn(const shape& input) {
  if (input.rank() == 4)
    return {};
  return invalid("input must have 4 axes, got shape ", input);
}

inline status check_lrn_gradient(const shape& gradient, const shape& input, const shape& output) {
  if (gradient.rank() == 4 && gradient == input && output == input)
    return {};
  return invalid("takes three tensors of one shape with 4 axes, got ", gradient, ", ", input,
                 " and ", output);
}

} // namespace troupe::ops
