// What QuantizeV2 and Dequantize share: how whole numbers of few bits stand for a range of real
// ones.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <string_view>

namespace troupe::ops {

inline constexpr dtype_set quantized_types{dtype::i8, dtype::u8, dtype::i16, dtype::u16,
                                           dtype::i32};

enum class quantization { min_combined, min_first, scaled };
result<quantization> quantization_mode(std::string_view name);

/// Slices along an axis, each with a range of its own, or all as one slice.
struct quantized_slices {
  int64_t outer = 1, count = 1, inner = 1;
};

/// An axis of -1 means all as one. Fails where the ranges are not as many as the slices.
result<quantized_slices> quantized_slices_of(const shape& dims, int64_t axis, const tensor& least,
                                             const tensor& most);

/// The shape of input 0, checked against the ranges in inputs 1 and 2.
result<partial_shape> infer_ranges(const infer_context& at);

} // namespace troupe::ops
