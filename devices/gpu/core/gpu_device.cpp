#include "troupe/devices/gpu/core/gpu_device.hpp"

#include "troupe/devices/gpu/core/clock.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"
#include "troupe/devices/gpu/core/gpu_context.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"

#include <utility>
#include <vector>

namespace troupe::gpu {
namespace {

// Keeps an object until the process ends: launches that never ended may still use it, and a driver
// waits for them before it frees memory.
void abandon(std::shared_ptr<const void> used) {
  struct objects {
    std::mutex mutex;
    std::vector<std::shared_ptr<const void>> list;
  };
  static auto& abandoned = *new objects; // not destroyed at the end of the process
  std::lock_guard guard{abandoned.mutex};
  abandoned.list.push_back(std::move(used));
}

class device_over_driver final : public gpu_device, public collective_device, public swap_support {
public:
  device_over_driver(std::shared_ptr<gpu_context> gpu_core, std::shared_ptr<device> host,
                     int ordinal)
      : context_(std::move(gpu_core)), host_(std::move(host)), ordinal_(ordinal) {}
  ~device_over_driver() override {
    if (context_->stop()) {
      destroy_kept();
      return;
    }
    abandon(context_);
    abandon(take_kept());
  }

  device_kind kind() const noexcept override { return device_kind::gpu; }
  pending_inputs* as_pending_inputs() noexcept override { return this; }
  swap_support* as_swap_support() noexcept override { return this; }
  collective_device* as_collective() noexcept override { return this; }
  int ordinal() const noexcept override { return ordinal_; }
  std::string description() const override {
    const auto& about = context_->gpu_driver().gpu_properties();
    return concat(about.name, ", compute capability ", about.compute_major, '.',
                  about.compute_minor, ", ", about.total_memory >> 20, " MiB of memory, ",
                  about.driver);
  }
  size_t memory_limit() const noexcept override { return context_->limit(); }
  allocator& memory() noexcept override { return *context_; }
  memory_statistics statistics() const override { return context_->statistics(); }
  void release_cached_memory() noexcept override { context_->release_cached(); }
  // Kernels compute little on the host before they launch, so one thread is enough.
  void parallel_ranges(int64_t items, double, range_body body, stop_signal*) override {
    if (items > 0)
      body.call(body.context, 0, items);
  }

  device& host() noexcept override { return *host_; }
  result<tensor> upload(const tensor& source) override { return context_->upload(source, *host_); }
  void download(tensor source, on_downloaded done) override {
    context_->download(std::move(source), std::move(done));
  }
  result<tensor> copy_from_device(const tensor& source) override {
    return context_->copy_from_peer(source);
  }
  copy_statistics copies() const override { return context_->copies(); }
  void notify_when_done(on_done done) override { context_->notify_when_done(std::move(done)); }
  result<std::unique_ptr<recording>> record() override { return context_->record(); }
  replay_statistics replays() const override { return context_->replays(); }
  std::unique_ptr<device_clock> make_clock(uint32_t marks) override {
    return std::make_unique<gpu::clock>(context_, marks);
  }
  status health() const override { return context_->health(); }

  result<tensor> swap_out(const tensor& source) override { return context_->swap_out(source); }
  result<tensor> swap_in(const tensor& saved, allocator& memory) override {
    return context_->swap_in(saved, memory);
  }
  status wait_for(const tensor& pending) override { return context_->wait_for(pending); }
  swap_statistics swaps() const override { return context_->swaps(); }

  gpu::driver& driver() noexcept override { return context_->gpu_driver(); }
  device_error_flags::place device_errors() noexcept override { return context_->device_errors(); }
  stream compute() noexcept override { return context_->compute(); }

  std::shared_ptr<const void> keep() const override { return context_; }
  void on_lost(std::function<void(const status&)> act) override {
    context_->on_lost(std::move(act));
  }
  status probe() override { return context_->probe(); }
  result<std::shared_ptr<void>> record_position() override { return context_->record_position(); }
  result<stream> begin_exchange(const std::shared_ptr<void>& position) override {
    return context_->begin_exchange(position);
  }
  status end_exchange(const tensor& input, const tensor& output) override {
    return context_->end_exchange(input, output);
  }

private:
  const std::shared_ptr<gpu_context> context_;
  const std::shared_ptr<device> host_;
  const int ordinal_;
};

} // namespace

result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> gpu_driver,
                                                std::shared_ptr<device> host,
                                                const device_options& options) {
  return make_device(std::move(gpu_driver), std::move(host), options.ordinal,
                     {.limit = options.memory_limit});
}

result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> gpu_driver,
                                                std::shared_ptr<device> host, int ordinal,
                                                const memory_options& memory,
                                                std::chrono::milliseconds watchdog) {
  TROUPE_ASSIGN(auto created, gpu_context::make(std::move(gpu_driver), ordinal, memory, watchdog));
  return std::shared_ptr<gpu_device>{
      std::make_shared<device_over_driver>(std::move(created), std::move(host), ordinal)};
}

} // namespace troupe::gpu
