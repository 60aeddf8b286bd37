// The folder of the tests' data.
#pragma once
#include <filesystem>
#include <string_view>

namespace troupe::test {

/// A folder in the tests' tree, such as "ops/goldens/cases". The environment variable TROUPE_TESTS
/// overrides the tree's path, for binaries that run on another machine than they were built on.
std::filesystem::path data_folder(std::string_view inside);

} // namespace troupe::test
