// The part of gpu_context that launches exchanges with other GPUs (collectives.hpp).
#include "troupe/devices/gpu/core/gpu_context.hpp"

namespace troupe::gpu {

result<std::shared_ptr<void>> gpu_context::record_position() {
  TROUPE_ASSIGN(auto position, end_of_compute());
  return std::shared_ptr<void>{position, [keep = shared_from_this()](event passed) {
                                 std::lock_guard guard{keep->mutex_};
                                 keep->events_.push_back(passed);
                               }};
}

result<stream> gpu_context::begin_exchange(const std::shared_ptr<void>& position) {
  std::lock_guard guard{mutex_};
  auto start = static_cast<event>(position.get());
  if (!start) {
    TROUPE_ASSIGN(start, marks_.set(*driver_, compute_));
  }
  TROUPE_TRY(driver_->await(exchange_, start));
  return exchange_;
}

// The input is held until it has been read, so that it is not overwritten before. Users of the
// output call wait_for(); the next user of its memory waits, too.
status gpu_context::end_exchange(const tensor& input, const tensor& output) {
  std::lock_guard guard{mutex_};
  TROUPE_TRY(marks_exchanged_.set(*driver_, exchange_));
  if (output.bytes() > 0 && output.raw() != (input.empty() ? nullptr : input.raw()))
    copied_[output.raw()].exchanged = marks_exchanged_.last();
  if (input.empty() || input.bytes() == 0)
    return {};
  TROUPE_ASSIGN(auto read_event, end_of(exchange_));
  completions_.push({read_event, [held = tensor{input}](status) mutable { held.reset(); }, {}});
  return {};
}

} // namespace troupe::gpu
