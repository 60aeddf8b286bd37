// The keys of slices in the index of a checkpoint of TensorFlow: bytes that sort as what they
// stand for (its OrderedCode).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// The part of an axis; a length of -1 is the whole axis.
struct slice_extent {
  int64_t start = 0, length = -1;
};

std::string slice_key(std::string_view name, std::span<const slice_extent> slice);

} // namespace troupe
