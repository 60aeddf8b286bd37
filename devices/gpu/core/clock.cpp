#include "troupe/devices/gpu/core/clock.hpp"

#include "troupe/devices/gpu/core/gpu_context.hpp"

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

// Clocks drift apart, and the driver measures the distance of events with few digits.
constexpr auto max_base_age = 10s;
constexpr auto max_base_wait = 5s; // for earlier launches
constexpr auto max_mark_wait = 100ms;
constexpr auto max_base_error = 100us;
constexpr int max_tries = 5;

} // namespace

clock::~clock() {
  auto& driver = context_->gpu_driver();
  for (const auto& timed_mark : marks_)
    if (timed_mark.passed_event)
      driver.destroy(timed_mark.passed_event);
  if (base_)
    driver.destroy(base_);
}

void clock::begin() noexcept {
  late_ = false;
  for (auto& timed_mark : marks_)
    timed_mark.marked = false;
  auto now = std::chrono::steady_clock::now();
  if (base_ && base_time_ != decltype(base_time_){} && now - base_time_ < max_base_age)
    return;
  base_time_ = {};
  auto& driver = context_->gpu_driver();
  if (!base_) {
    auto new_event = driver.make_timed_event();
    if (!new_event)
      return;
    base_ = *new_event;
  }
  // The event passes between `before` and `after`. Retries if the interval is too long.
  for (int tries = 0; tries < max_tries; ++tries) {
    auto before = std::chrono::steady_clock::now();
    if (!driver.record(base_, context_->compute()))
      return;
    auto passed = driver.wait(base_, max_base_wait);
    if (!passed || !*passed)
      return;
    auto after = std::chrono::steady_clock::now();
    base_time_ = after;
    if (after - before < max_base_error)
      return;
  }
}

void clock::mark(uint32_t mark_index) noexcept { mark(mark_index, context_->compute()); }

void clock::mark_copy(uint32_t mark_index, copy_stream in) noexcept {
  mark(mark_index, context_->stream_of(in));
}

void clock::mark(uint32_t mark_index, stream in) noexcept {
  auto& timed_mark = marks_[mark_index];
  auto& driver = context_->gpu_driver();
  if (!timed_mark.passed_event) {
    auto new_event = driver.make_timed_event();
    if (!new_event)
      return;
    timed_mark.passed_event = *new_event;
  }
  timed_mark.marked = driver.record(timed_mark.passed_event, in).ok();
}

int64_t clock::time_of(uint32_t mark_index) noexcept {
  const auto& timed_mark = marks_[mark_index];
  if (!timed_mark.marked || base_time_ == decltype(base_time_){})
    return 0;
  auto& driver = context_->gpu_driver();
  // The step has ended, but a mark after its last copy may not have passed yet. After a cancelled
  // step, many marks never pass in time: only the first one is waited for.
  auto passed = late_ ? driver.passed(timed_mark.passed_event)
                      : driver.wait(timed_mark.passed_event, max_mark_wait);
  late_ = !passed || !*passed;
  if (late_)
    return 0;
  auto elapsed = driver.elapsed(base_, timed_mark.passed_event);
  if (!elapsed)
    return 0;
  return std::chrono::nanoseconds{base_time_.time_since_epoch()}.count() + *elapsed;
}

} // namespace troupe::gpu
