// What a step shall note down, or watch for, while it runs.
#pragma once

namespace troupe {

struct profile_options {
  bool times = false;          ///< when each node ran, and what memory it took
  bool check_numerics = false; ///< fail at the first node that makes a NaN or an infinity
  bool any() const noexcept { return times || check_numerics; }
};

} // namespace troupe
