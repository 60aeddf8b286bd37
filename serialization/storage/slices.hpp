// Slices: the positions of parts of a partitioned variable in the whole variable.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <span>
#include <vector>

namespace troupe {

struct tensor_slice {
  std::vector<int64_t> offset; ///< for each axis
  shape dims;
};

/// Fails unless the slice lies within the shape.
status check_slice(const shape& full_shape, std::span<const int64_t> offset, const shape& dims);

/// Fails if an element is in two of the slices, each of which lies within one shape.
status check_disjoint(std::span<const tensor_slice> slices);

/// Fails unless the slices, each of which lies within the shape, cover every element once.
status check_cover(const shape& full_shape, std::span<const tensor_slice> slices);

/// Whether two slices of one tensor have an element in common.
bool slices_overlap(std::span<const int64_t> one_offset, const shape& one_dims,
                    std::span<const int64_t> other_offset, const shape& other_dims) noexcept;

/// The number of elements that two slices of one tensor have in common.
int64_t count_overlap(std::span<const int64_t> one_offset, const shape& one_dims,
                      std::span<const int64_t> other_offset, const shape& other_dims) noexcept;

/// Copies the common elements of two slices of one tensor from the elements of one slice to those
/// of the other. Both are on the host and of one type.
void copy_overlap(const tensor& from, std::span<const int64_t> from_offset, tensor& to,
                  std::span<const int64_t> to_offset);

} // namespace troupe
