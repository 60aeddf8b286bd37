#include "troupe/devices/deterministic/deterministic.hpp"

namespace troupe {
namespace {

class view final : public device {
public:
  explicit view(std::shared_ptr<device> of) : of_(std::move(of)) {}

  device_kind kind() const noexcept override { return of_->kind(); }
  int ordinal() const noexcept override { return of_->ordinal(); }
  accelerator* as_accelerator() noexcept override { return of_->as_accelerator(); }
  pending_inputs* as_pending_inputs() noexcept override { return of_->as_pending_inputs(); }
  bool deterministic() const noexcept override { return true; }
  int threads() const noexcept override { return of_->threads(); }
  std::string description() const override { return of_->description() + ", deterministic"; }
  size_t memory_limit() const noexcept override { return of_->memory_limit(); }
  allocator& memory() noexcept override { return of_->memory(); }
  memory_statistics statistics() const override { return of_->statistics(); }
  swap_space* swap() noexcept override { return of_->swap(); }
  void release_cached_memory() noexcept override { of_->release_cached_memory(); }
  void parallel_ranges(int64_t items, double nanoseconds_per_item, range_body body,
                       stop_signal* stop) override {
    of_->parallel_ranges(items, nanoseconds_per_item, body, stop);
  }

private:
  const std::shared_ptr<device> of_;
};

} // namespace

std::shared_ptr<device> deterministic_view(std::shared_ptr<device> of) {
  return std::make_shared<view>(std::move(of));
}

} // namespace troupe
