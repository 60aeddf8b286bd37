// Shapes as values: inputs that list extents, and what shape inference learns from them.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The shape that the integer vector at input i lists, as far as it is known. It comes from the
/// values of a constant, or from the tensor whose Shape the vector is; otherwise only the rank is
/// known.
result<partial_shape> listed_shape(const infer_context& at, int i);
/// The same for a list in which -1 has no meaning, so that a constant must not contain it.
result<partial_shape> listed_extents(const infer_context& at, int i);

/// Replaces one -1 by the extent that makes the shape have `elements` elements. Fails where no
/// extent does.
result<shape> fit_elements(std::span<const int64_t> listed, int64_t elements);

/// The strides of a row-major tensor, in elements.
std::array<int64_t, max_rank> strides_of(const shape& dims);

/// The constant integers at an input of a node; nullopt where they are not known yet.
std::optional<std::vector<int64_t>> constant_integers(edge from);

} // namespace troupe::ops
