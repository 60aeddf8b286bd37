// What a GPU's device does around an exchange with others (collectives.hpp).
#include "troupe/devices/gpu/core/core.hpp"

namespace troupe::gpu {

result<std::shared_ptr<void>> core::record_position() {
  TROUPE_ASSIGN(auto at, end_of_line());
  return std::shared_ptr<void>{at, [keep = shared_from_this()](event passed) {
                                 std::lock_guard guard{keep->mutex_};
                                 keep->events_.push_back(passed);
                               }};
}

result<stream> core::begin_exchange(const std::shared_ptr<void>& behind) {
  std::lock_guard guard{mutex_};
  auto at = static_cast<event>(behind.get());
  if (!at) {
    TROUPE_ASSIGN(at, marks_.set(*driver_, compute_));
  }
  TROUPE_TRY(driver_->await(exchange_, at));
  return exchange_;
}

// Nobody writes over the input before it has been read: this device holds it as long. Who uses the
// output waits for it (wait_for), as does whoever gets its memory next.
status core::end_exchange(const tensor& input, const tensor& output) {
  std::lock_guard guard{mutex_};
  TROUPE_TRY(marks_exchanged_.set(*driver_, exchange_));
  if (output.bytes() > 0 && output.raw() != (input.empty() ? nullptr : input.raw()))
    copied_[output.raw()].exchanged = marks_exchanged_.last();
  if (input.empty() || input.bytes() == 0)
    return {};
  TROUPE_ASSIGN(auto read, end_of(exchange_));
  std::lock_guard queue{completion_mutex_};
  completions_.push_back({read, [held = tensor{input}](status) mutable { held.reset(); }, {}});
  completion_changed_.notify_one();
  return {};
}

} // namespace troupe::gpu
