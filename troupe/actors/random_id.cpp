#include "troupe/actors/random_id.hpp"

#include <random>

namespace troupe {

uint64_t random_id() {
  std::random_device source;
  uint64_t id = 0;
  while (id == 0)
    id = uint64_t{source()} << 32 | source();
  return id;
}

} // namespace troupe
