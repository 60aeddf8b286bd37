#include "troupe/devices/deterministic/deterministic.hpp"

namespace troupe {
namespace {

class view final : public device {
public:
  explicit view(std::shared_ptr<device> viewed) : device_(std::move(viewed)) {}

  device_kind kind() const noexcept override { return device_->kind(); }
  int ordinal() const noexcept override { return device_->ordinal(); }
  accelerator* as_accelerator() noexcept override { return device_->as_accelerator(); }
  pending_inputs* as_pending_inputs() noexcept override { return device_->as_pending_inputs(); }
  bool deterministic() const noexcept override { return true; }
  int threads() const noexcept override { return device_->threads(); }
  std::string description() const override { return device_->description() + ", deterministic"; }
  size_t memory_limit() const noexcept override { return device_->memory_limit(); }
  allocator& memory() noexcept override { return device_->memory(); }
  memory_statistics statistics() const override { return device_->statistics(); }
  swap_space* swap() noexcept override { return device_->swap(); }
  void release_cached_memory() noexcept override { device_->release_cached_memory(); }
  void parallel_ranges(int64_t items, double nanoseconds_per_item, range_body body,
                       stop_signal* stop) override {
    device_->parallel_ranges(items, nanoseconds_per_item, body, stop);
  }

private:
  const std::shared_ptr<device> device_;
};

} // namespace

std::shared_ptr<device> deterministic_view(std::shared_ptr<device> viewed) {
  return std::make_shared<view>(std::move(viewed));
}

} // namespace troupe
