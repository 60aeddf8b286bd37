// When a GPU came to places in its line of launches.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace troupe::gpu {

class core;

/// Marks are timed events in the compute stream, made when they are first wanted and used again.
class clock final : public device_clock {
public:
  clock(std::shared_ptr<core> of, uint32_t marks) : core_(std::move(of)), marks_(marks) {}
  ~clock() override;
  clock(const clock&) = delete;
  clock& operator=(const clock&) = delete;

  void begin() noexcept override;
  void mark(uint32_t which) noexcept override;
  bool marks_copies() const noexcept override { return true; }
  void mark_copy(uint32_t which, copy_stream in) noexcept override;
  int64_t time_of(uint32_t which) noexcept override;

private:
  void mark(uint32_t which, stream in) noexcept;
  struct place {
    event at = nullptr;
    bool marked = false;
  };

  const std::shared_ptr<core> core_;
  event base_ = nullptr;
  std::chrono::steady_clock::time_point base_time_{}; // when the base was passed
  bool late_ = false; ///< a mark of this step was not passed in time
  std::vector<place> marks_;
};

} // namespace troupe::gpu
