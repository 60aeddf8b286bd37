// A GPU as a device, over any driver.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>

namespace troupe::gpu {

struct device_options {
  int ordinal = 0;
  /// The most bytes that tensors and the cache may use together; 0: nine tenths of the memory.
  /// Memory is allocated on demand.
  size_t memory_limit = 0;
};

class collective_device;

/// The interface of a GPU for kernels, beside memory.
class gpu_device : public accelerator {
public:
  virtual gpu::driver& driver() noexcept = 0;
  /// The interface for collective calls (collectives.hpp), or null.
  virtual collective_device* as_collective() noexcept { return nullptr; }
  /// The stream for launches of this thread. It may change between kernels.
  virtual stream compute() noexcept = 0;
  /// The place for errors of a kernel that is launched now.
  virtual device_error_flags::place device_errors() noexcept = 0;

  /// Returns the T of this device, such as a handle of a library. The first call makes it by
  /// `make(*this)`, which returns a result<std::shared_ptr<T>>. It is destroyed with the device,
  /// after all launches have run. If `make` fails, the next call tries again.
  template <class T, class Make>
  result<T*> get_or_make(Make&& make) {
    std::lock_guard guard{kept_mutex_};
    auto& entry = kept_[typeid(T)];
    if (!entry) {
      TROUPE_ASSIGN(std::shared_ptr<T> created, make(*this));
      entry = std::move(created);
    }
    return static_cast<T*>(entry.get());
  }

  /// Whether products and convolutions of f32 may round their operands to TF32 (10 bits of
  /// mantissa), which is several times as fast. Off by default.
  bool uses_tf32() const noexcept { return rounds_operands_.load(std::memory_order_relaxed); }
  void set_tf32(bool may) noexcept { rounds_operands_ = may; }

protected:
  /// To be called when nothing runs any more, while the streams still exist.
  void destroy_kept() noexcept { kept_.clear(); }
  /// Returns the owner of the kept objects, for launches that never end.
  std::shared_ptr<const void> take_kept() {
    return std::make_shared<decltype(kept_)>(std::exchange(kept_, {}));
  }

private:
  std::mutex kept_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  std::atomic<bool> rounds_operands_{false};
};

/// The GPU of a kernel's device.
inline gpu_device& gpu_of(device& target) {
  return static_cast<gpu_device&>(*target.as_accelerator());
}

/// `host` runs the nodes of the GPU's partitions that have no GPU kernel.
result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> gpu_driver,
                                                std::shared_ptr<device> host,
                                                const device_options& options = {});

} // namespace troupe::gpu
