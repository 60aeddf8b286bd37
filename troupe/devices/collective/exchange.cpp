#include "troupe/devices/collective/exchange.hpp"

#include "troupe/devices/cpu/exchange.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe {

status prepare_exchange(const exchange_call& what, exchange_part& mine) {
  return mine.on->as_accelerator() ? gpu::prepare_exchange(what, mine) : status{};
}

status exchange(const exchange_call& what, std::span<exchange_part> all, stop_signal* stop) {
  return all.front().on->as_accelerator() ? gpu::exchange(what, all)
                                          : exchange_on_processors(what, all, stop);
}

} // namespace troupe
