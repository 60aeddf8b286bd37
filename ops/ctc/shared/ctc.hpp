// Shared by the definitions of connectionist temporal classification.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// inputs [time, batch, classes], and a sequence_length for each row of the batch.
inline result<partial_shape> ctc_inputs(const infer_context& at, int lengths) {
  TROUPE_ASSIGN(auto inputs, at.of_rank(0, 3));
  TROUPE_ASSIGN(auto lengths_shape, at.of_rank(lengths, 1));
  TROUPE_ASSIGN(auto batch, merge(partial_shape{inputs[1]}, lengths_shape));
  inputs.set(1, batch[0]);
  return inputs;
}

inline result<shapes> infer_ctc_loss(const infer_context& at) {
  TROUPE_ASSIGN(auto inputs, ctc_inputs(at, 3));
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto values, at.of_rank(2, 1));
  if (!indices.compatible(partial_shape{values[0], 2}))
    return at.invalid("labels_indices must have two columns and a row for each label, got shape ",
                      indices, " for ", values);
  return shapes{partial_shape{inputs[1]}, inputs};
}

// Output 1 already is d(loss)/d(inputs).
inline edges ctc_loss_gradient(gradient_context& at) {
  if (at.has_output_gradient(1))
    return at.fail("second derivatives of this loss are not defined");
  auto per_row =
      build("ExpandDims", {at.output_gradient(0), at.constant(tensor::scalar(int32_t{-1}))});
  return {per_row * at.output(1), {}, {}, {}};
}

constexpr op_def ctc_loss_form(op_def def, std::string_view type) {
  def.inputs = {{"inputs", type},
                {"labels_indices", "i64"},
                {"labels_values", "i32"},
                {"sequence_length", "i32"}};
  def.outputs = {{"loss", type}, {"gradient", type}};
  def.infer = infer_ctc_loss;
  def.gradient = ctc_loss_gradient;
  return def;
}

} // namespace troupe::ops
