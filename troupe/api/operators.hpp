// Formulas: operators between edges, and short forms of ops.
#pragma once
#include "troupe/api/ops.hpp"

namespace TROUPE_API troupe {

// Element by element, with NumPy's broadcasting. At least one side is an edge.
edge operator+(operand x, operand y);
edge operator-(operand x, operand y);
edge operator*(operand x, operand y);
edge operator/(operand x, operand y); ///< of whole numbers: rounded towards zero
edge operator-(operand x);

// Over all elements: the result is a scalar.
edge sum(operand x, std::source_location where = std::source_location::current());
edge mean(operand x, std::source_location where = std::source_location::current());
edge max(operand x, std::source_location where = std::source_location::current());
edge min(operand x, std::source_location where = std::source_location::current());

} // namespace troupe
