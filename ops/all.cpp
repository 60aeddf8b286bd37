#include "troupe/ops/all.hpp"

#include "troupe/ops/fused.hpp"

namespace troupe::ops {

status add_all(registry& to) {
  for (auto* op : all_ops())
    TROUPE_TRY(to.add(*op));
  for (auto* kernel : all_kernels())
    TROUPE_TRY(to.add(*kernel));
  return to.add(fused_cpu);
}

status add_all(registry& to, device_kind kernels_of) {
  for (auto* op : all_ops())
    TROUPE_TRY(to.add(*op));
  for (auto* kernel : all_kernels())
    if (kernel->device == kernels_of || kernel->on_any_device)
      TROUPE_TRY(to.add(*kernel));
  return kernels_of == device_kind::cpu ? to.add(fused_cpu) : status{};
}

} // namespace troupe::ops
