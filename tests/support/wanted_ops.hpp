// Which ops the tests that walk the registry look at.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// The environment variable TROUPE_OPS ("Relu,Conv2D") chooses them; else all are wanted.
bool is_wanted(std::string_view op);
bool all_ops_wanted();
std::vector<std::string> wanted_ops(); ///< the names that it lists; none where all are wanted

} // namespace troupe::test
