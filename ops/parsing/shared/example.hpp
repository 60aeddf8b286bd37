// Shared by the two ops that parse tf.train.Example: the features to look for.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

#include <string>

namespace troupe::ops {

inline constexpr auto feature_types = one_of(dtype::f32, dtype::i64, dtype::string);

/// A list of types of features.
constexpr attr_def feature_type_list(std::string_view name) {
  attr_def attr{name, attr_kind::types, true};
  attr.allowed = feature_types;
  return attr;
}

/// The first extent of a dense feature's declared shape may be unknown: then examples may differ in
/// it.
inline bool is_ragged(const partial_shape& dims) {
  return dims.has_rank() && dims.rank() > 0 && dims[0] == unknown_extent;
}

/// Checks the attributes Tdense and dense_shapes, and the defaults, which start at that input.
inline status check_dense(const infer_context& at, int first_default) {
  const auto& types = at.attr<std::vector<dtype>>("Tdense");
  const auto& dims = at.attr<shapes>("dense_shapes");
  if (dims.size() != types.size())
    return at.invalid("dense_shapes must have one shape for each of ", types.size(),
                      " dense features, got ", dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    auto inner = dims[i];
    if (is_ragged(inner))
      inner.set(0, 0);
    if (!inner.fully_known())
      return at.invalid("dense_shapes[", i, "] must be known, but for its first extent, got ",
                        dims[i]);
    const auto& fallback = at.input(first_default + static_cast<int>(i));
    auto count = fallback.elements();
    if (count > 0 && is_ragged(dims[i]) && count != 1)
      return at.invalid("dense_defaults[", i, "] must be one value, to fill up with, got shape ",
                        fallback);
    if (count > 0 && !is_ragged(dims[i]) && count != dims[i].elements())
      return at.invalid("dense_defaults[", i, "] must have the shape ", dims[i], ", got ",
                        fallback);
  }
  return {};
}

} // namespace troupe::ops
