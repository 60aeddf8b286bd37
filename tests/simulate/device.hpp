// The processor of a simulated task, whose memory may be exhausted.
#pragma once
#include "tests/simulate/core.hpp"
#include "troupe/runtime/device/device.hpp"

#include <string>

namespace troupe::simulate {

class failing_memory final : public allocator {
public:
  explicit failing_memory(const core& simulation) : chance_(simulation.settings.seed, "memory") {}
  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;

  bool is_short = false;
  int64_t live = 0; ///< allocations in use

private:
  dice chance_;
};

class simulated_device final : public device {
public:
  simulated_device(const core& of, size_t process, uint64_t incarnation)
      : process(process), incarnation(incarnation), memory_(of) {}
  device_kind kind() const noexcept override { return device_kind::cpu; }
  int ordinal() const noexcept override { return 0; }
  std::string description() const override { return "a simulated processor"; }
  size_t memory_limit() const noexcept override { return SIZE_MAX; }
  failing_memory& memory() noexcept override { return memory_; }
  void parallel_ranges(int64_t items, double, range_body body, stop_signal*) override {
    if (items > 0)
      body.call(body.context, 0, items);
  }

  const size_t process;
  const uint64_t incarnation;

private:
  failing_memory memory_;
};

} // namespace troupe::simulate
