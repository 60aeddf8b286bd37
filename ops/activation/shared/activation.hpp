// Shared by the definitions of activations and of their gradients.
#pragma once
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Completes the form of an op that changes each element by itself.
constexpr op_def activation(op_def def) {
  def.inputs = {{"features", "T"}};
  def.outputs = {{"activations", "T"}};
  def.effects = def.effects | effect::forwardable | effect::elementwise;
  def.infer = infer::same_as_input;
  return def;
}

/// Completes the form of an activation's gradient, computed from its features or its outputs.
constexpr op_def activation_gradient(op_def def, std::string_view from = "features") {
  def.inputs = {{"gradients", "T"}, {from, "T"}};
  def.outputs = {{"backprops", "T"}};
  def.effects = def.effects | effect::forwardable | effect::elementwise;
  def.infer = infer_paired;
  return def;
}

} // namespace troupe::ops
