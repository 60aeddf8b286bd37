// Waits of a client's steps that have not reached their tasks yet, as operators see them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A wait for one task. A client that reaches all of its tasks has no waits.
struct client_wait {
  static constexpr size_t max_waits = 64; ///< waits that a client reports at once
  static constexpr size_t max_text = 256; ///< bytes of each text

  std::string target = {}; ///< "/job:ps/task:0"
  std::string reason = {}; ///< "it is not connected"
  uint32_t steps = 0;      ///< number of steps that wait for this reason
  double seconds = 0;      ///< the longest of these waits
};

using client_wait_list = std::vector<client_wait>;

} // namespace troupe
