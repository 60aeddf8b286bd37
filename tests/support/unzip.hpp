// Files that are stored compressed.
#pragma once
#include <string>

namespace troupe::test {

/// The content of a .gz file; throws where there is none.
std::string unzipped(const std::string& path);

} // namespace troupe::test
