// Labels and weights in the type that a loss or a metric computes in.
#pragma once
#include "troupe/api/operand.hpp"

namespace troupe {

/// Whole numbers and truth values in that type; literals and others as they are, which are then
/// checked by the op that takes them. `beside` is an edge of the graph.
operand cast_labels(const operand& labels, dtype type, edge beside, std::source_location where);

/// Truth values of whole numbers, 0 being false; others as they are, likewise.
operand truth_of(const operand& labels, edge beside, std::source_location where);

/// Both as i64 where they are whole numbers or truth values of different types.
void make_comparable(operand& predictions, operand& labels, std::source_location where);

} // namespace troupe
