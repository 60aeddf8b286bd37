#include "troupe/actors/base/random_id.hpp"

#include <random>
#include <utility>

namespace troupe {
namespace {

std::function<uint64_t()>& simulated_source() {
  static std::function<uint64_t()> source;
  return source;
}

} // namespace

uint64_t random_id() {
  if (const auto& simulated = simulated_source())
    return simulated();
  std::random_device source;
  uint64_t id = 0;
  while (id == 0)
    id = uint64_t{source()} << 32 | source();
  return id;
}

uint64_t new_incarnation(std::chrono::system_clock::time_point now) {
  constexpr int random_bits = 22; // the other 42 bits count milliseconds, until the year 2109
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return static_cast<uint64_t>(ms) << random_bits | random_id() >> (64 - random_bits) | 1;
}

void set_random_id_source(std::function<uint64_t()> source) {
  simulated_source() = std::move(source);
}

} // namespace troupe
