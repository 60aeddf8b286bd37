// Shared by the definitions of QuantizedMaxPool and QuantizedAvgPool.
#pragma once
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops {

/// Channels come last.
inline constexpr window_form quantized_pool{.formats = false, .pools = true};

inline result<shapes> infer_quantized_pool(const infer_context& at) {
  TROUPE_ASSIGN(auto pooled, infer_pooled(at, quantized_pool, at.input(0)));
  return infer_quantized(at, pooled, 1);
}

/// Completes the form of a pooling.
constexpr op_def quantized_pooling(op_def def) {
  def.inputs = {{"input", "T"}, {"min_input", "f32"}, {"max_input", "f32"}};
  def.outputs = {{"output", "T"}, {"min_output", "f32"}, {"max_output", "f32"}};
  def.attrs = {{"T", byte_types},
               {"ksize", attr_kind::integers},
               {"strides", attr_kind::integers},
               {"padding", attr_kind::text}};
  def.infer = infer_quantized_pool;
  def.no_gradient = "whole numbers have none";
  return def;
}

/// For kernels: copies inputs 1 and 2, which must be scalars, to outputs 1 and 2.
inline status keep_range(kernel_context& at) {
  for (int i : {1, 2}) {
    if (at.input(i).rank() != 0)
      return invalid("the ends of ranges must be scalars, got shape ", at.input(i).dims());
    at.set_output(i, at.input(i));
  }
  return {};
}

} // namespace troupe::ops
