// Averages of variables over the steps, which often generalize better than their last values.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <map>

namespace troupe {

/// average -= (1 - decay) * (average - variable), after each step. Averages begin at the initial
/// value of their variable, and are variables themselves, called "<variable>/average".
class TROUPE_API exponential_moving_average {
public:
  using location = std::source_location;

  /// With `step`, a counter of steps, the decay is at most (1 + step) / (10 + step), so that the
  /// first averages follow quickly.
  explicit exponential_moving_average(operand decay) : decay_(std::move(decay)) {}
  exponential_moving_average(operand decay, edge step) : decay_(std::move(decay)), step_(step) {}

  /// Returns the node that brings the averages up to date: to run after `train`. By default, all
  /// floating variables so far that have an initial value.
  node* follow(graph_builder& in, node* train, std::vector<variable_handle> variables = {},
               location where = location::current());

  /// The average of a variable that it follows; else throws.
  variable_handle average(edge variable, location where = location::current()) const;

  /// Returns the node that gives all variables their averages: for evaluation, after saving them.
  node* assign_averages(graph_builder& in, location where = location::current()) const;

private:
  operand decay_;
  edge step_;
  std::map<node*, variable_handle> averages_;
};

} // namespace troupe
