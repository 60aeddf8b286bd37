#include "troupe/actors/random_id.hpp"

#include <random>
#include <utility>

namespace troupe {
namespace {

std::function<uint64_t()>& other_source() {
  static std::function<uint64_t()> source;
  return source;
}

} // namespace

uint64_t random_id() {
  if (const auto& other = other_source())
    return other();
  std::random_device source;
  uint64_t id = 0;
  while (id == 0)
    id = uint64_t{source()} << 32 | source();
  return id;
}

void draw_random_ids_from(std::function<uint64_t()> source) { other_source() = std::move(source); }

} // namespace troupe
