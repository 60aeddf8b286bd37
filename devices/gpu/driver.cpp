#include "troupe/devices/gpu/driver.hpp"

#include <atomic>

namespace troupe::gpu {

status take(complaint& from) noexcept {
  std::atomic_ref<int> stage{from.stage};
  if (stage.load(std::memory_order_acquire) != complaint::written)
    return {};
  auto made = from.limit < 0
                  ? invalid(from.op, ": ", from.what)
                  : invalid(from.op, ": ", from.what, " has ", from.value,
                            ", but the places there are [0, ", from.limit, ')');
  stage.store(complaint::none, std::memory_order_release);
  return made;
}

} // namespace troupe::gpu
