// Optimizers: the nodes that make variables follow gradients.
#pragma once
#include "troupe/api/graph_builder.hpp"

namespace troupe {

struct variable_gradient {
  edge variable; ///< a ref
  edge gradient;
};

/// Steps each variable against its gradient: w -= learning_rate * d(loss)/dw.
class gradient_descent {
public:
  /// A number, or an edge to a scalar when it changes over time.
  explicit gradient_descent(operand learning_rate) : rate_(std::move(learning_rate)) {}

  /// Returns the node that takes one step for all floating variables that the loss depends on, or
  /// for those given. Throws when there are none, or when the loss does not depend on one of those
  /// given.
  node* minimize(edge loss, const std::vector<edge>& variables = {},
                 std::source_location where = std::source_location::current()) const;

  /// The first half of minimize(), for those who change gradients before applying them.
  std::vector<variable_gradient>
  compute_gradients(edge loss, const std::vector<edge>& variables = {},
                    std::source_location where = std::source_location::current()) const;

  /// The second half: returns the node that applies all of them.
  node* apply_gradients(const std::vector<variable_gradient>& gradients,
                        std::source_location where = std::source_location::current()) const;

private:
  operand rate_;
};

} // namespace troupe
