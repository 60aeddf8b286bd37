// Measurements and checks that a step makes while it runs.
#pragma once

namespace troupe {

struct profile_options {
  bool times = false;          ///< record when each node ran, and the memory that it allocated
  bool check_numerics = false; ///< fail at the first node that outputs a NaN or an infinity
  bool any() const noexcept { return times || check_numerics; }
};

} // namespace troupe
