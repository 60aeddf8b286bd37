// Gradients of a few rows, so that a step need not touch a whole variable to change them.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <optional>

namespace troupe {

/// A gradient that is zero but for rows: values[i] is added to row indices[i]. A row may be named
/// more than once.
struct indexed_slices {
  edge values;  ///< the shape of indices, then that of a row
  edge indices; ///< each names a row that exists
};

/// Returns the rows of which a gradient consists: that of the params of Gather, or of GatherV2
/// along axis 0, and sums of such gradients. Nothing where a gradient is of all rows, or where the
/// sum mixes both kinds. Gradients stay edges, and may be used as dense ones whenever that is
/// simpler: a step that uses the rows alone leaves out the nodes that would fill in the zeros.
TROUPE_API std::optional<indexed_slices> slices_of(edge gradient);

/// The same with indices that are a vector and name each row once: what was given for one row is
/// added up. For steps that are not linear in the gradient, such as those that square it.
TROUPE_API std::optional<indexed_slices> summed_slices_of(edge gradient);

} // namespace troupe
