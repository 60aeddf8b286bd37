// The ranges of axes that slices take, as checkpoints of TensorFlow store them.
#pragma once
#include "troupe/serialization/storage/slices.hpp"
#include "troupe/serialization/tensor_bundle/slice_key.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.pb.h"

namespace troupe {

/// An axis that the slice has in full gets an extent without a length.
std::vector<slice_extent> extents_of(const shape& full_shape, const tensor_slice& slice);

void write_extents(std::span<const slice_extent> from, tensor_bundle::TensorSliceProto& to);
std::vector<slice_extent> read_extents(const tensor_bundle::TensorSliceProto& from);

/// Converts extents to a slice of a tensor of `full_shape`; fails unless the slice lies within it.
result<tensor_slice> slice_within(const shape& full_shape, std::span<const slice_extent> extents);

} // namespace troupe
