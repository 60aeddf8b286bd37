// How ops name a slice of a tensor: "4 5 0,2:-" is rows 0 and 1 of a tensor of shape [4,5].
#pragma once
#include "troupe/serialization/storage/slices.hpp"

#include <optional>
#include <string_view>

namespace troupe {

struct slice_spec {
  shape whole;
  tensor_slice slice;

  /// Whether the slice is the whole tensor.
  bool all() const { return slice.dims == whole; }

  /// Returns nothing for an empty text, which means the whole tensor of any shape. Fails if the
  /// text is no slice, or if the slice does not lie within the shape.
  static result<std::optional<slice_spec>> parse(std::string_view text);
};

} // namespace troupe
