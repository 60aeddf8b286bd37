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

} // namespace troupe::ops
