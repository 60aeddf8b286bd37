#include "troupe/devices/collective/run_collective.hpp"

#include "troupe/devices/cpu/collective.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"

namespace troupe {

status prepare_collective(const collective_call& call, collective_part& part) {
  return part.target->as_accelerator() ? gpu::prepare_collective(call, part) : status{};
}

status run_collective(const collective_call& call, std::span<collective_part> parts,
                      stop_signal* stop) {
  return parts.front().target->as_accelerator() ? gpu::run_collective(call, parts)
                                                : run_collective_on_cpu(call, parts, stop);
}

} // namespace troupe
