#include "tests/support/unzip.hpp"

#include <zlib.h>

#include <stdexcept>

namespace troupe::test {

std::string unzipped(const std::string& path) {
  std::string text;
  auto* file = gzopen(path.c_str(), "rb");
  if (!file)
    throw std::runtime_error{"cannot read " + path};
  char part[1 << 14];
  int size = 0;
  while ((size = gzread(file, part, sizeof part)) > 0)
    text.append(part, static_cast<size_t>(size));
  if (gzclose(file) != Z_OK || size < 0)
    throw std::runtime_error{path + " is damaged"};
  return text;
}

} // namespace troupe::test
