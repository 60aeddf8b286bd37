// L-BFGS (Liu and Nocedal 1989): for losses that are equal in every step, over a whole data set.
#pragma once
#include "troupe/api/session.hpp"
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

struct lbfgs_options {
  int memory = 10;         ///< number of past steps for the estimate of the curvature
  int max_steps = 100;     ///< search directions
  int max_trials = 20;     ///< points to evaluate along each direction
  double tolerance = 1e-5; ///< converged when no element of the gradient is larger
};

/// Consists of ordinary nodes: the curvature's history and the direction are variables, called
/// "lbfgs/...", which the graph's initializer initializes. Only the line search, for the weak Wolfe
/// conditions, evaluates numbers outside of the graph. All variables must have one floating type
/// and known shapes.
class TROUPE_API lbfgs {
public:
  using location = std::source_location;

  /// Minimizes over all floating variables that the loss depends on, or over those given.
  explicit lbfgs(edge loss, const std::vector<edge>& variables = {},
                 const lbfgs_options& options = {}, location where = location::current());

  struct outcome {
    double loss = 0, largest_gradient = 0;
    int steps = 0;
    bool converged = false; ///< false: max_steps were taken, or no better point was found
  };
  /// Moves the variables to a local minimum, and reports the result. May be called again, also with
  /// other feeds; it then reuses its estimate of the curvature.
  outcome minimize(session& in, const std::vector<feed>& feeds = {},
                   location where = location::current());

private:
  struct point {
    double loss, slope, largest_gradient;
  };
  point evaluate(session& in, const std::vector<feed>& feeds, location where);

  lbfgs_options options_;
  edge loss_, slope_, largest_gradient_;
  edge length_; // of the step along the direction
  node *compute_direction_ = nullptr, *move_ = nullptr, *update_history_ = nullptr;
};

} // namespace troupe
