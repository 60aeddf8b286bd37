// Tensors joined along a new first axis, and cut again.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// Copies slice `from_slice` of one tensor to slice `to_slice` of another; both have slices of
/// `extent` elements.
void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent);
/// A copy of one slice along the first axis, which there must be.
result<tensor> slice_of(const tensor& batch, int64_t which, allocator& from);
/// A tensor of `count` slices of this shape, not filled.
result<tensor> make_batch(dtype type, int64_t count, const shape& slice, allocator& from);
shape without_first_axis(const shape& dims);

} // namespace troupe
