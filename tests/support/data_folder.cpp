#include "tests/support/data_folder.hpp"

#include "tests/support/paths.hpp"

#include <cstdlib>

namespace troupe::test {

std::filesystem::path data_folder(std::string_view inside) {
  const auto* moved = std::getenv("TROUPE_TESTS");
  return std::filesystem::path{moved ? moved : tests_folder} / inside;
}

} // namespace troupe::test
