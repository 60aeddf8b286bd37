// What the definitions of QuantizedRelu and its kin share.
#pragma once
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops {

/// The ranges are the last two inputs.
inline result<shapes> infer_rectified(const infer_context& at) {
  if (at.input_type(0) != at.output_type(0))
    return at.invalid("out_type must be Tinput, got ", at.output_type(0), " and ",
                      at.input_type(0));
  return infer_quantized(at, at.input(0), 1);
}

/// Completes the form of an op that brings whole numbers between two.
constexpr op_def rectification(op_def own) {
  constexpr auto types = byte_types | one_of(dtype::i32);
  own.outputs = {
      {"activations", "out_type"}, {"min_activations", "f32"}, {"max_activations", "f32"}};
  own.attrs = {{"Tinput", types}, {"out_type", types, dtype::u8}};
  own.effects = effect::forwardable;
  own.infer = infer_rectified;
  own.no_gradient = "whole numbers have none";
  return own;
}

} // namespace troupe::ops
