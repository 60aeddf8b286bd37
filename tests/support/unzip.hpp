// Reads compressed files.
#pragma once
#include <string>

namespace troupe::test {

/// The content of a .gz file; throws if the file does not exist.
std::string unzipped(const std::string& path);

} // namespace troupe::test
