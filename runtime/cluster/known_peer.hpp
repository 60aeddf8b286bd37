// A task and its incarnation, as another process knows them.
#pragma once
#include <cstdint>
#include <string>

namespace troupe {

struct known_peer {
  std::string task; ///< "/job:ps/task:0"
  uint64_t incarnation = 0;
};

} // namespace troupe
