// Tensors joined along a new first axis, and cut again.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <span>

namespace troupe {

/// Copies slice `from_slice` of one tensor to slice `to_slice` of another; both have slices of
/// `extent` elements.
void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent);
/// A copy of one slice along the first axis, which there must be.
result<tensor> slice_of(const tensor& batch, int64_t which, allocator& from);
/// How tensors become one.
struct stacking {
  dtype type = dtype::none;
  partial_shape dims = {}; ///< of each, as far as it is known: where there are none, it must be
  bool pads = false;       ///< those with smaller extents are filled up with zeros, or ""
};
/// One tensor with a new first axis. Fails where the shapes differ, unless it pads.
result<tensor> stack(std::span<const tensor* const> all, const stacking& how, allocator& from);
shape without_first_axis(const shape& dims);

} // namespace troupe
