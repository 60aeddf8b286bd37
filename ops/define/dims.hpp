// Shapes that are values: inputs that list extents, and what shape functions learn from them.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The shape that the integer vector at input i lists, as far as it is known: the values of a
/// constant, the shape of the tensor whose Shape it is, or else only the rank.
result<partial_shape> listed_shape(const infer_context& at, int i);
/// The same for a list in which -1 means nothing, so that a constant must not have it.
result<partial_shape> listed_extents(const infer_context& at, int i);

/// Replaces one -1 by the extent that makes it so many elements. Fails where there is none.
result<shape> fit_elements(std::span<const int64_t> wanted, int64_t elements);

/// The strides of a row-major tensor, in elements.
std::array<int64_t, max_rank> strides_of(const shape& dims);

/// The constant integers that feed a node; nothing where they are not known yet.
std::optional<std::vector<int64_t>> constant_integers(edge from);

} // namespace troupe::ops
