// The ops that tests of the whole registry cover.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// The environment variable TROUPE_OPS ("Relu,Conv2D") selects ops; without it all are selected.
bool is_selected(std::string_view op);
bool all_ops_selected();
std::vector<std::string> selected_ops(); ///< the selected names; empty if all are selected

} // namespace troupe::test
