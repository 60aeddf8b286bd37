// Stacks tensors along a new first axis, and slices them again.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <span>

namespace troupe {

/// Copies slice `from_slice` of one tensor to slice `to_slice` of another; both have slices of
/// `extent` elements.
void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent);
/// Copies one slice along the first axis. The tensor must have a first axis.
result<tensor> slice_of(const tensor& batch, int64_t position, allocator& memory);
/// How stack() combines tensors.
struct stack_options {
  dtype type = dtype::none;
  partial_shape dims = {}; ///< of each tensor, as far as known; without tensors, fully known
  bool pad = false;        ///< pad smaller tensors with zeros, or ""
};
/// Returns one tensor with a new first axis. Fails if the shapes differ and `pad` is not set.
result<tensor> stack(std::span<const tensor* const> parts, const stack_options& options,
                     allocator& memory);
shape without_first_axis(const shape& dims);

} // namespace troupe
