#include "troupe/devices/collective/exchange.hpp"

#include "troupe/devices/cpu/exchange.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe {

status prepare_collective(const collective_call& call, collective_part& part) {
  return part.on->as_accelerator() ? gpu::prepare_collective(call, part) : status{};
}

status exchange(const collective_call& call, std::span<collective_part> parts, stop_signal* stop) {
  return parts.front().on->as_accelerator() ? gpu::exchange(call, parts)
                                            : exchange_on_processors(call, parts, stop);
}

} // namespace troupe
