#include "troupe/runtime/device/launch_owner.hpp"

#include <atomic>
#include <utility>

namespace troupe {
namespace {

constexpr uint64_t owner_bit = uint64_t{1} << 63;

thread_local uint64_t current_owner = 0;

} // namespace

uint64_t next_launch_owner() noexcept {
  static std::atomic<uint64_t> last{0};
  return owner_bit | (last.fetch_add(1, std::memory_order_relaxed) + 1);
}

uint64_t current_launch_owner() noexcept { return current_owner; }

launching_for::launching_for(uint64_t owner) noexcept
    : outer_(std::exchange(current_owner, owner)) {}

launching_for::~launching_for() { current_owner = outer_; }

} // namespace troupe
