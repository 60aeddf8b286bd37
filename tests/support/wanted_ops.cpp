#include "tests/support/wanted_ops.hpp"

#include "troupe/runtime/types/status.hpp"

#include <cstdlib>

namespace troupe::test {

bool all_ops_wanted() { return std::getenv("TROUPE_OPS") == nullptr; }

bool is_wanted(std::string_view op) {
  const auto* list = std::getenv("TROUPE_OPS");
  return !list || concat(',', list, ',').find(concat(',', op, ',')) != std::string::npos;
}

} // namespace troupe::test
