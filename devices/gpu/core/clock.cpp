#include "troupe/devices/gpu/core/clock.hpp"

#include "troupe/devices/gpu/core/core.hpp"

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

// Clocks drift apart, and the distance of two events is told with few digits.
constexpr auto longest_use = 10s;
constexpr auto patience = 5s; // for what was launched before
constexpr auto patience_with_marks = 100ms;
constexpr auto exact_enough = 100us;
constexpr int max_tries = 5;

} // namespace

clock::~clock() {
  auto& driver = core_->under();
  for (const auto& one : marks_)
    if (one.at)
      driver.destroy(one.at);
  if (base_)
    driver.destroy(base_);
}

void clock::begin() noexcept {
  late_ = false;
  for (auto& one : marks_)
    one.marked = false;
  auto now = std::chrono::steady_clock::now();
  if (base_ && base_time_ != decltype(base_time_){} && now - base_time_ < longest_use)
    return;
  base_time_ = {};
  auto& driver = core_->under();
  if (!base_) {
    auto made = driver.make_timed_event();
    if (!made)
      return;
    base_ = *made;
  }
  // The event is passed at some time between these two; where something came between, once more.
  for (int tries = 0; tries < max_tries; ++tries) {
    auto before = std::chrono::steady_clock::now();
    if (!driver.record(base_, core_->compute()))
      return;
    auto passed = driver.wait(base_, patience);
    if (!passed || !*passed)
      return;
    auto after = std::chrono::steady_clock::now();
    base_time_ = after;
    if (after - before < exact_enough)
      return;
  }
}

void clock::mark(uint32_t which) noexcept { mark(which, core_->compute()); }

void clock::mark_copy(uint32_t which, copy_stream in) noexcept {
  mark(which, core_->stream_of(in));
}

void clock::mark(uint32_t which, stream in) noexcept {
  auto& one = marks_[which];
  auto& driver = core_->under();
  if (!one.at) {
    auto made = driver.make_timed_event();
    if (!made)
      return;
    one.at = *made;
  }
  one.marked = driver.record(one.at, in).ok();
}

int64_t clock::time_of(uint32_t which) noexcept {
  const auto& one = marks_[which];
  if (!one.marked || base_time_ == decltype(base_time_){})
    return 0;
  auto& driver = core_->under();
  // The step has ended, but a mark behind its last copy may be about to be passed. Of a step that
  // was given up, many never are in time: they are waited for once.
  auto passed = late_ ? driver.passed(one.at) : driver.wait(one.at, patience_with_marks);
  late_ = !passed || !*passed;
  if (late_)
    return 0;
  auto since = driver.elapsed(base_, one.at);
  if (!since)
    return 0;
  return std::chrono::nanoseconds{base_time_.time_since_epoch()}.count() + *since;
}

} // namespace troupe::gpu
