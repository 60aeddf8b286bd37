// Conversion of labels and weights to the type in which a loss or a metric computes.
#pragma once
#include "troupe/api/operand.hpp"

namespace troupe {

/// Converts integers and booleans to `type`. Returns literals and values of other types unchanged;
/// the op that takes them checks them. `beside` is an edge of the graph.
operand cast_labels(const operand& labels, dtype type, edge beside, std::source_location where);

/// Converts integers to booleans, where 0 is false. Returns others unchanged.
operand truth_of(const operand& labels, edge beside, std::source_location where);

/// Converts both to i64 if they are integers or booleans of different types.
void make_comparable(operand& predictions, operand& labels, std::source_location where);

} // namespace troupe
