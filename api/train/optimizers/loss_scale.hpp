// Loss scaling: the loss is multiplied by a factor so that f16 does not round its gradients to
// zero. The gradients are divided by the same factor before they are applied (Micikevicius et al.
// 2018).
#pragma once
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

struct loss_scale_options {
  double initial = 65536;
  double factor = 2;         ///< for growing and shrinking
  int64_t grow_every = 2000; ///< consecutive steps with finite gradients
  double minimum = 1, maximum = 16777216;
};

/// The factor of a loss, and the nodes that scale its gradients back. They are part of the step, so
/// they work on any device and on clusters. A copy refers to the same scale.
class TROUPE_API loss_scale {
public:
  using location = std::source_location;

  /// A constant factor; every update is applied.
  static loss_scale constant(graph_builder& in, double value, location where = location::current());

  /// A factor as large as the gradients allow. A step with a gradient that is not finite shrinks it
  /// and does not change variables and optimizer. After `grow_every` good steps in a row it grows.
  /// Its state are the variables "loss_scale" and "loss_scale/good_steps".
  static loss_scale dynamic(graph_builder& in, const loss_scale_options& options = {},
                            location where = location::current());

  /// Like optimizer::minimize(), with the loss scaled.
  node* minimize(optimizer& method, edge loss, const std::vector<edge>& variables = {},
                 location where = location::current()) const;

  /// Like optimizer::compute_gradients(): computed from the scaled loss, then scaled back, so that
  /// they can be clipped.
  std::vector<variable_gradient> compute_gradients(edge loss,
                                                   const std::vector<edge>& variables = {},
                                                   location where = location::current()) const;

  /// Like optimizer::apply_gradients(), and updates the scale.
  node* apply_gradients(optimizer& method, const std::vector<variable_gradient>& gradients,
                        location where = location::current()) const;

  /// The factor of the loss in a step: an f32 scalar.
  edge value() const noexcept { return value_; }

private:
  loss_scale() = default;

  edge value_, good_steps_; // refs if dynamic; good_steps_ is empty if constant
  loss_scale_options options_;
};

/// Returns a boolean scalar: true if no element of any gradient is NaN or infinite.
TROUPE_API edge all_finite(const std::vector<variable_gradient>& gradients,
                           std::source_location where = std::source_location::current());

} // namespace troupe
