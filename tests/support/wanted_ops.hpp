// Which ops the tests that walk the registry look at.
#pragma once
#include <string_view>

namespace troupe::test {

/// The environment variable TROUPE_OPS ("Relu,Conv2D") chooses them; else all are wanted.
bool is_wanted(std::string_view op);
bool all_ops_wanted();

} // namespace troupe::test
