// Functions that may run twice: where gradients compute again instead of keeping.
#pragma once
#include "troupe/runtime/graph/function.hpp"

namespace troupe {

/// Whether the functions of a node give the same when they run again with the same values: they
/// draw nothing at random, have no effects, and of state only read variables.
bool functions_can_run_again(const node& of);

/// A node like one of another graph whose functions can run again, over the values of the variables
/// that they read: `inputs` has values.
node_spec over_values(const node& of, std::vector<edge> inputs, status& outcome);

} // namespace troupe
