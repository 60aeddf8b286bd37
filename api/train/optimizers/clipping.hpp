// Gradient clipping. The norm is Euclidean.
#pragma once
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

/// Returns the norm of all elements of all tensors together; a scalar.
TROUPE_API edge global_norm(const std::vector<edge>& values,
                            std::source_location where = std::source_location::current());

/// Scales x so that its norm is at most `limit`.
TROUPE_API edge clip_by_norm(operand x, operand limit,
                             std::source_location where = std::source_location::current());

/// Scales all tensors by one factor so that their global norm is at most `limit` (Pascanu et al.
/// 2012). If the norm is not finite, all results are NaN, so that the error stays visible.
TROUPE_API std::vector<edge>
clip_by_global_norm(const std::vector<edge>& values, operand limit,
                    std::source_location where = std::source_location::current());

// Clipping of gradients, between optimizer::compute_gradients() and apply_gradients(). Sparse
// gradients (api/train/optimizers/indexed_slices.hpp) are clipped to the values that the dense
// gradients would have: slices of the same row are summed first. The result is sparse if the limit
// is a scalar; a norm that is not finite makes only the rows of the slices NaN. The same holds for
// sparse gradients that the functions above get.
using gradient_list = std::vector<variable_gradient>;

/// Replaces elements below `low` or above `high` by that bound. A sparse gradient stays sparse if
/// both bounds are scalars that are known while the graph is built, and low <= 0 <= high.
/// Otherwise the clipped gradient is dense: the rows that are not in the slices are 0, and are
/// clipped, too. TensorFlow differs: it clips each slice by itself, and leaves the other rows 0.
TROUPE_API gradient_list
clip_by_value(const gradient_list& gradients, operand low, operand high,
              std::source_location where = std::source_location::current());
/// Scales each gradient so that its norm is at most `limit`. TensorFlow differs for sparse
/// gradients: it takes the norm of the slices before those of the same row are summed.
TROUPE_API gradient_list clip_by_norm(const gradient_list& gradients, operand limit,
                                      std::source_location where = std::source_location::current());
/// Scales all gradients by one factor so that their global norm is at most `limit`.
TROUPE_API gradient_list
clip_by_global_norm(const gradient_list& gradients, operand limit,
                    std::source_location where = std::source_location::current());

} // namespace troupe
