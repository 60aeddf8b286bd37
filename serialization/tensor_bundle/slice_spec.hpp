// How ops name a slice of a tensor: "4 5 0,2:-" is rows 0 and 1 of a tensor of shape [4,5].
#pragma once
#include "troupe/serialization/storage/slices.hpp"

#include <optional>
#include <string_view>

namespace troupe {

struct slice_spec {
  shape full_shape;
  tensor_slice slice;

  bool is_whole_tensor() const { return slice.dims == full_shape; }

  /// Returns nothing for an empty text, which means the whole tensor of any shape. Fails if the
  /// text is no slice, or if the slice does not lie within the shape.
  static result<std::optional<slice_spec>> parse(std::string_view text);
};

} // namespace troupe
