// Where files of a swap space lie.
#pragma once
#include <cstddef>
#include <string>

namespace troupe {

struct swap_space_options {
  std::string folder = {}; ///< for the files; empty: that of $TMPDIR, else /var/tmp
  size_t limit = 0;        ///< bytes of the files together; 0: what the disk has
};

} // namespace troupe
