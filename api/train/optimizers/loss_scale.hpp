// Loss scaling: gradients that f16 would round to zero are computed of a larger loss instead, and
// divided by as much before they are applied (Micikevicius et al. 2018).
#pragma once
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

struct loss_scale_options {
  double initial = 65536;
  double factor = 2;         ///< to grow and to shrink by
  int64_t grow_every = 2000; ///< steps without a gradient that is not finite
  double least = 1, most = 16777216;
};

/// What a loss is multiplied by, and how its gradients are brought back. All of it is nodes of the
/// step, so that it works on any device and on clusters. Copying copies the handle.
class TROUPE_API loss_scale {
public:
  using location = std::source_location;

  /// Always the same number, and every update is made.
  static loss_scale constant(graph_builder& in, double value, location where = location::current());

  /// As large as the gradients bear: a step in which one of them is not finite shrinks it and
  /// leaves variables and optimizer as they were; after `grow_every` good steps in a row it grows.
  /// Lives in the variables "loss_scale" and "loss_scale/good_steps".
  static loss_scale dynamic(graph_builder& in, const loss_scale_options& options = {},
                            location where = location::current());

  /// As optimizer::minimize(), with the loss scaled.
  node* minimize(optimizer& by, edge loss, const std::vector<edge>& variables = {},
                 location where = location::current()) const;

  /// As optimizer::compute_gradients(): computed of the scaled loss, then scaled back, and so ready
  /// to be clipped.
  std::vector<variable_gradient> compute_gradients(edge loss,
                                                   const std::vector<edge>& variables = {},
                                                   location where = location::current()) const;

  /// As optimizer::apply_gradients(), with all that the scale has to do in a step.
  node* apply_gradients(optimizer& by, const std::vector<variable_gradient>& gradients,
                        location where = location::current()) const;

  /// What the loss is multiplied by in a step: an f32 scalar.
  edge value() const noexcept { return value_; }

private:
  loss_scale() = default;

  edge value_, good_steps_; // refs where it is dynamic; no good steps where it is constant
  loss_scale_options options_;
};

/// A scalar of truth: whether no element of any of them is NaN or infinite.
TROUPE_API edge all_finite(const std::vector<variable_gradient>& gradients,
                           std::source_location where = std::source_location::current());

} // namespace troupe
