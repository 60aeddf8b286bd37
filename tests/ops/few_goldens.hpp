// The ops that have fewer than six golden cases, with the reasons.
#pragma once
#include "tests/ops/every_op.hpp"

namespace troupe::test {

std::vector<exception> few_goldens();

} // namespace troupe::test
