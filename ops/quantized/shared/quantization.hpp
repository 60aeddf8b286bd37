// Shared by QuantizeV2 and Dequantize: the representation of a real range by numbers of few bits.
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

/// Slices along an axis, each with its own range; or the whole tensor as one slice.
struct quantized_slices {
  int64_t outer = 1, count = 1, inner = 1;
};

/// An axis of -1 means one slice. Fails unless there is one range per slice.
result<quantized_slices> quantized_slices_of(const shape& dims, int64_t axis,
                                             const tensor& min_range, const tensor& max_range);

/// The shape of input 0, checked against the ranges in inputs 1 and 2.
result<partial_shape> infer_ranges(const infer_context& at);

} // namespace troupe::ops
