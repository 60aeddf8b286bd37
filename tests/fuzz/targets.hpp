// The fuzz targets of this folder; its CMakeLists.txt writes the list.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::fuzz {

struct target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
  const char* corpus;     ///< folder of seeds, which may be missing
  const char* crash_file; ///< where an input that ends the process is stored
};

std::span<const target> targets();

} // namespace troupe::fuzz
