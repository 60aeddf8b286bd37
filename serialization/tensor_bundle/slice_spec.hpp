// How ops name a slice of a tensor: "4 5 0,2:-" is rows 0 and 1 of a tensor of shape [4,5].
#pragma once
#include "troupe/serialization/storage/slices.hpp"

#include <optional>
#include <string_view>

namespace troupe {

struct slice_spec {
  shape whole;
  tensor_slice slice;

  /// Whether it is the whole tensor.
  bool all() const { return slice.dims == whole; }

  /// Nothing for an empty text, which means the whole tensor, whatever its shape. Fails where the
  /// text says no slice, or one that does not lie within the whole.
  static result<std::optional<slice_spec>> parse(std::string_view text);
};

} // namespace troupe
