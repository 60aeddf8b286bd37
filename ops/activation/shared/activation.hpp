// What the definitions of activations, and of their gradients, share.
#pragma once
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Completes the form of an op that changes each element by itself.
constexpr op_def activation(op_def own) {
  own.inputs = {{"features", "T"}};
  own.outputs = {{"activations", "T"}};
  own.effects = own.effects | effect::forwardable | effect::elementwise;
  own.infer = infer::same_as_input;
  return own;
}

/// Completes the form of an activation's gradient, computed from its features or its outputs.
constexpr op_def activation_gradient(op_def own, std::string_view from = "features") {
  own.inputs = {{"gradients", "T"}, {from, "T"}};
  own.outputs = {{"backprops", "T"}};
  own.effects = own.effects | effect::forwardable | effect::elementwise;
  own.infer = infer_paired;
  return own;
}

} // namespace troupe::ops
