#include "troupe/ops/all.hpp"

namespace troupe::ops {

status add_all(registry& to) {
  for (auto* op : all_ops())
    TROUPE_TRY(to.add(*op));
  for (auto* kernel : all_kernels())
    TROUPE_TRY(to.add(*kernel));
  return {};
}

status add_all(registry& to, device_kind kernels_of) {
  for (auto* op : all_ops())
    TROUPE_TRY(to.add(*op));
  for (auto* kernel : all_kernels())
    if (kernel->device == kernels_of || kernel->on_any_device)
      TROUPE_TRY(to.add(*kernel));
  return {};
}

} // namespace troupe::ops
