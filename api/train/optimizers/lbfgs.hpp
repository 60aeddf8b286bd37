// L-BFGS (Liu and Nocedal 1989): for losses that are the same in every step, over a whole data set.
#pragma once
#include "troupe/api/session.hpp"
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

struct lbfgs_options {
  int memory = 10;         ///< how many past steps the curvature is estimated from
  int max_steps = 100;     ///< directions to follow
  int max_trials = 20;     ///< points to look at along each of them
  double tolerance = 1e-5; ///< done when no element of the gradient is larger
};

/// Made of ordinary nodes: the curvature's memory and the direction are variables, called
/// "lbfgs/...", which the graph's initializer initializes. Only the line search, for the weak Wolfe
/// conditions, looks at numbers outside of the graph. All variables must have one floating type and
/// known shapes.
class TROUPE_API lbfgs {
public:
  using location = std::source_location;

  /// For all floating variables that the loss depends on, or for those given.
  explicit lbfgs(edge loss, const std::vector<edge>& variables = {},
                 const lbfgs_options& options = {}, location where = location::current());

  struct outcome {
    double loss = 0, largest_gradient = 0;
    int steps = 0;
    bool converged = false; ///< else it has taken max_steps, or found no better point
  };
  /// Moves the variables to a minimum nearby, and says how far it came. May be called again, with
  /// other feeds too; it then goes on with what it knows of the curvature.
  outcome minimize(session& in, const std::vector<feed>& feeds = {},
                   location where = location::current());

private:
  struct point {
    double loss, slope, largest_gradient;
  };
  point look(session& in, const std::vector<feed>& feeds, location where);

  lbfgs_options options_;
  edge loss_, slope_, largest_;
  edge length_; // how far along the direction
  node *aim_ = nullptr, *move_ = nullptr, *remember_ = nullptr;
};

} // namespace troupe
