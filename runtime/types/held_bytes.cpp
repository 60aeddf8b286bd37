#include "troupe/runtime/types/held_bytes.hpp"

#include <string>

namespace troupe {

uint64_t held_bytes(const tensor& value) {
  auto bytes = static_cast<uint64_t>(value.bytes());
  if (value.type() == dtype::string)
    for (int64_t i = 0; i < value.elements(); ++i)
      bytes += value.data<std::string>()[i].size();
  return bytes;
}

} // namespace troupe
