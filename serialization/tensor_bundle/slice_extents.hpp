// The parts of axes that slices take, as checkpoints of TensorFlow store them.
#pragma once
#include "troupe/serialization/storage/slices.hpp"
#include "troupe/serialization/tensor_bundle/slice_key.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.pb.h"

namespace troupe {

/// An axis that is there as a whole says so.
std::vector<slice_extent> extents_of(const shape& whole, const tensor_slice& slice);

void write_extents(std::span<const slice_extent> from, tensor_bundle::TensorSliceProto& to);
std::vector<slice_extent> read_extents(const tensor_bundle::TensorSliceProto& from);

/// Which slice of a tensor they are; fails unless it lies within.
result<tensor_slice> slice_within(const shape& whole, std::span<const slice_extent> extents);

} // namespace troupe
