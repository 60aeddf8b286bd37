#include "troupe/devices/collective/exchange.hpp"

#include "troupe/devices/cpu/exchange.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe {

status prepare_collective(const collective_call& what, collective_part& mine) {
  return mine.on->as_accelerator() ? gpu::prepare_collective(what, mine) : status{};
}

status exchange(const collective_call& what, std::span<collective_part> all, stop_signal* stop) {
  return all.front().on->as_accelerator() ? gpu::exchange(what, all)
                                          : exchange_on_processors(what, all, stop);
}

} // namespace troupe
