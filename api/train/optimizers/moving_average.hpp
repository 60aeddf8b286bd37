// Moving averages of variables, which often generalize better than the last values.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <map>

namespace troupe {

/// average -= (1 - decay) * (average - variable), after each step. Averages are variables
/// themselves, called "<variable>/average", and begin at the initial value of their variable.
class TROUPE_API exponential_moving_average {
public:
  using location = std::source_location;

  /// With `step`, a step counter, the decay is at most (1 + step) / (10 + step), so that the first
  /// averages follow quickly.
  explicit exponential_moving_average(operand decay) : decay_(std::move(decay)) {}
  exponential_moving_average(operand decay, edge step) : decay_(std::move(decay)), step_(step) {}

  /// Returns the node that updates the averages after `train`. By default it covers all floating
  /// variables so far that have an initial value.
  node* track(graph_builder& in, node* train, std::vector<variable_handle> variables = {},
              location where = location::current());

  /// Returns the average of a variable. Throws if the variable is not averaged.
  variable_handle average(edge variable, location where = location::current()) const;

  /// Returns the node that assigns the averages to their variables: for evaluation, after saving
  /// the variables.
  node* assign_averages(graph_builder& in, location where = location::current()) const;

private:
  operand decay_;
  edge step_;
  std::map<node*, variable_handle> averages_;
};

} // namespace troupe
