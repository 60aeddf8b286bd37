#include "tests/support/selected_ops.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace troupe::test {

std::vector<std::string> selected_ops() {
  const auto* list = std::getenv("TROUPE_OPS");
  std::istringstream stream{list ? list : ""};
  std::vector<std::string> names;
  for (std::string name; std::getline(stream, name, ',');)
    names.push_back(name);
  return names;
}

bool all_ops_selected() { return std::getenv("TROUPE_OPS") == nullptr; }

bool is_selected(std::string_view op) {
  auto wanted_names = selected_ops();
  return all_ops_selected() || std::ranges::find(wanted_names, op) != wanted_names.end();
}

} // namespace troupe::test
