#include "troupe/devices/gpu/core/loss_record.hpp"

#include <utility>

namespace troupe::gpu {

status loss_record::reason() const {
  std::lock_guard guard{mutex_};
  return reason_;
}

bool loss_record::record(status reason, cause noticed_by) {
  std::lock_guard guard{mutex_};
  if (!reason_)
    return false;
  may_run_.store(noticed_by == cause::silence, std::memory_order_release);
  reason_ = std::move(reason);
  has_report_.store(true, std::memory_order_release);
  return true;
}

bool loss_record::add(listener act) {
  std::lock_guard guard{mutex_};
  listeners_.push_back(std::move(act));
  if (reason_)
    return false;
  has_report_.store(true, std::memory_order_release);
  return true;
}

void loss_record::report() {
  std::unique_lock guard{mutex_};
  if (!has_report_.exchange(false, std::memory_order_acq_rel))
    return;
  auto reason = reason_;
  auto listeners = std::exchange(listeners_, {});
  guard.unlock();
  for (const auto& act : listeners)
    act(reason);
}

} // namespace troupe::gpu
