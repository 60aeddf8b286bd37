#include "troupe/devices/gpu/core/device_errors.hpp"

#include "troupe/runtime/graph/two_phase_op.hpp"

#include <algorithm>
#include <string>

namespace troupe::gpu {

void device_error_flags::add(uint64_t epoch, status reason) {
  std::lock_guard guard{mutex_};
  if (std::ranges::none_of(reported_, [=](const auto& entry) { return entry.first == epoch; }))
    reported_.emplace_back(epoch, std::move(reason));
}

namespace {

bool contains(const device_error_flags::launches& ended, uint64_t epoch) {
  return is_launch_owner(epoch) ? epoch == ended.owner : epoch <= ended.until;
}

status explained(const device_error& reported) {
  auto op = original_op_name(reported.op);
  if (reported.limit >= 0)
    return invalid(op, ": ", reported.text, " has ", reported.value,
                   ", but the places there are [0, ", reported.limit, ')');
  std::string text = reported.text;
  if (auto placeholder = text.find('#'); placeholder != std::string::npos)
    text.replace(placeholder, 1, std::to_string(reported.value));
  return invalid(op, ": ", text);
}

} // namespace

status device_error_flags::take(const launches& ended) {
  status first;
  auto keep_first = [&](status reason) {
    if (first)
      first = std::move(reason);
  };
  for (auto& box : boxes_) {
    std::atomic_ref<int> stage{box.stage};
    if (stage.load(std::memory_order_acquire) != device_error::written ||
        !contains(ended, box.epoch))
      continue;
    keep_first(explained(box));
    stage.store(device_error::none, std::memory_order_release);
  }
  std::lock_guard guard{mutex_};
  for (auto entry = reported_.begin(); entry != reported_.end();)
    if (contains(ended, entry->first)) {
      keep_first(std::move(entry->second));
      entry = reported_.erase(entry);
    } else {
      ++entry;
    }
  return first;
}

} // namespace troupe::gpu
