// The ops that tests of the whole registry cover.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// The environment variable TROUPE_OPS ("Relu,Conv2D") selects ops; without it all are selected.
bool is_wanted(std::string_view op);
bool all_ops_wanted();
std::vector<std::string> wanted_ops(); ///< the selected names; empty if all are selected

} // namespace troupe::test
