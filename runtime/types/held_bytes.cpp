#include "troupe/runtime/types/held_bytes.hpp"

#include <string>

namespace troupe {

uint64_t held_bytes(const tensor& of) {
  auto bytes = static_cast<uint64_t>(of.bytes());
  if (of.type() == dtype::string)
    for (int64_t i = 0; i < of.elements(); ++i)
      bytes += of.data<std::string>()[i].size();
  return bytes;
}

} // namespace troupe
