// What a client's steps wait for before they reach their tasks, as operators are told.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A client whose tasks are all there has none.
struct client_wait {
  static constexpr size_t most = 64;       ///< that a client tells at once
  static constexpr size_t most_text = 256; ///< bytes of each text

  std::string target = {}; ///< "/job:ps/task:0"
  std::string reason = {}; ///< "it is not connected"
  uint32_t steps = 0;      ///< that wait so
  double seconds = 0;      ///< the longest of them
};

using client_wait_list = std::vector<client_wait>;

} // namespace troupe
