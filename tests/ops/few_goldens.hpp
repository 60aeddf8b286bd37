// The ops that have fewer than six golden cases, and why; in alphabetical order, a line each.
#pragma once
#include "tests/ops/every_op.hpp"

namespace troupe::test {

std::vector<exception> few_goldens();

} // namespace troupe::test
