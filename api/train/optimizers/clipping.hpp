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

// Clipping of gradients, between optimizer::compute_gradients() and apply_gradients(). Clipped
// gradients are dense, also those of sparse ones (api/train/optimizers/indexed_slices.hpp): the
// optimizer then updates all rows.
using gradient_list = std::vector<variable_gradient>;
TROUPE_API gradient_list
clip_by_value(const gradient_list& gradients, operand low, operand high,
              std::source_location where = std::source_location::current());
TROUPE_API gradient_list clip_by_norm(const gradient_list& gradients, operand limit,
                                      std::source_location where = std::source_location::current());
TROUPE_API gradient_list
clip_by_global_norm(const gradient_list& gradients, operand limit,
                    std::source_location where = std::source_location::current());

} // namespace troupe
