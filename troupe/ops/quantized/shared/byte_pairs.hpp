// What the definitions of QuantizedAdd, QuantizedMul and QuantizedBiasAdd share.
#pragma once
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops {

/// Completes the form of QuantizedAdd or QuantizedMul.
constexpr op_def quantized_arithmetic(op_def own) {
  own.inputs = {{"x", "T1"},      {"y", "T2"},      {"min_x", "f32"},
                {"max_x", "f32"}, {"min_y", "f32"}, {"max_y", "f32"}};
  own.outputs = {{"z", "Toutput"}, {"min_z", "f32"}, {"max_z", "f32"}};
  own.attrs = {{"T1", byte_types}, {"T2", byte_types}, {"Toutput", one_of(dtype::i32), dtype::i32}};
  own.infer = [](const infer_context& at) -> result<shapes> {
    TROUPE_ASSIGN(auto dims, broadcast(at.input(0), at.input(1)));
    return infer_quantized(at, dims, 2);
  };
  own.no_gradient = "whole numbers have none";
  return own;
}

} // namespace troupe::ops
