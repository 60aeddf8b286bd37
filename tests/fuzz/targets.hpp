// The fuzz targets of this folder; the list is written by its CMakeLists.txt.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::fuzz {

struct target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
  const char* corpus;     ///< folder of seeds, which need not be there
  const char* crash_file; ///< where an input is left that ends the process
};

std::span<const target> targets();

} // namespace troupe::fuzz
