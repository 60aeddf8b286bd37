// Measures when a GPU passes marks in its streams.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace troupe::gpu {

class gpu_context;

/// Marks are timed events, which are created when first used, and reused.
class clock final : public device_clock {
public:
  clock(std::shared_ptr<gpu_context> device_core, uint32_t marks)
      : context_(std::move(device_core)), marks_(marks) {}
  ~clock() override;
  clock(const clock&) = delete;
  clock& operator=(const clock&) = delete;

  void begin() noexcept override;
  void mark(uint32_t mark_index) noexcept override;
  bool marks_copies() const noexcept override { return true; }
  void mark_copy(uint32_t mark_index, copy_stream in) noexcept override;
  int64_t time_of(uint32_t mark_index) noexcept override;

private:
  void mark(uint32_t mark_index, stream in) noexcept;
  struct timed_mark {
    event passed_event = nullptr;
    bool marked = false;
  };

  const std::shared_ptr<gpu_context> context_;
  event base_ = nullptr;
  std::chrono::steady_clock::time_point base_time_{}; // when the base event passed
  bool late_ = false;                                 ///< a mark of this step did not pass in time
  std::vector<timed_mark> marks_;
};

} // namespace troupe::gpu
