// The keys of slices in the index of a checkpoint of TensorFlow. They sort as the names and extents
// that they encode do (TensorFlow's OrderedCode).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// The range of an axis; a length of -1 means the whole axis.
struct slice_extent {
  int64_t start = 0, length = -1;
};

std::string slice_key(std::string_view name, std::span<const slice_extent> slice);

} // namespace troupe
