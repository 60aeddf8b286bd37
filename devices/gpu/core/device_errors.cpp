#include "troupe/devices/gpu/core/device_errors.hpp"

#include "troupe/runtime/graph/two_phase_op.hpp"

#include <string>

namespace troupe::gpu {

void device_error_flags::add(uint64_t epoch, status why) {
  std::lock_guard guard{mutex_};
  told_.emplace_back(epoch, std::move(why));
}

namespace {

status explained(const device_error& of) {
  auto op = users_name(of.op);
  if (of.limit >= 0)
    return invalid(op, ": ", of.what, " has ", of.value, ", but the places there are [0, ",
                   of.limit, ')');
  std::string what = of.what;
  if (auto place = what.find('#'); place != std::string::npos)
    what.replace(place, 1, std::to_string(of.value));
  return invalid(op, ": ", what);
}

} // namespace

status device_error_flags::take(uint64_t until) {
  status first;
  auto keep = [&](status why) {
    if (first)
      first = std::move(why);
  };
  for (auto& box : boxes_) {
    std::atomic_ref<int> stage{box.stage};
    if (stage.load(std::memory_order_acquire) != device_error::written || box.epoch > until)
      continue;
    keep(explained(box));
    stage.store(device_error::none, std::memory_order_release);
  }
  std::lock_guard guard{mutex_};
  for (auto it = told_.begin(); it != told_.end();)
    if (it->first <= until) {
      keep(std::move(it->second));
      it = told_.erase(it);
    } else {
      ++it;
    }
  return first;
}

} // namespace troupe::gpu
