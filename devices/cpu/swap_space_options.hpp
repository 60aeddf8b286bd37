// The folder and the limit of a swap space.
#pragma once
#include <cstddef>
#include <string>

namespace troupe {

struct swap_space_options {
  std::string folder = {}; ///< for the files; empty: $TMPDIR, else /var/tmp
  size_t limit = 0;        ///< bytes of all files together; 0: the free space of the disk
};

} // namespace troupe
