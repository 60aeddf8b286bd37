// Sparse gradients: rows of a variable, so that a step need not touch the whole variable.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <optional>

namespace troupe {

/// A gradient that is zero except for some rows: values[i] is added to row indices[i]. An index may
/// occur more than once.
struct indexed_slices {
  edge values;  ///< the shape of indices, followed by that of a row
  edge indices; ///< of existing rows
};

/// Returns the rows of a sparse gradient: that of the params of Gather, or of GatherV2 along axis
/// 0, sums of such gradients, and such gradients that are scaled or clipped. Returns nullopt if a
/// gradient has all rows, or if the sum mixes both kinds. Gradients stay edges, and may also be
/// used as dense ones. A step that uses only the rows does not run the nodes that would fill in the
/// zeros.
TROUPE_API std::optional<indexed_slices> slices_of(edge gradient);

/// Returns the rows with a vector of unique indices: values of the same row are summed. For
/// updates that are not linear in the gradient, such as those that square it.
TROUPE_API std::optional<indexed_slices> summed_slices_of(edge gradient);

} // namespace troupe
