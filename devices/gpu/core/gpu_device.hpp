// A GPU as a device, over any driver.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

namespace troupe::gpu {

struct device_options {
  int ordinal = 0;
  /// The most bytes that tensors and the cache may take together; 0: nine tenths of what there is.
  /// Memory is taken when it is needed, never all at the start.
  size_t memory_limit = 0;
};

class collective_device;

/// What kernels use of their GPU beside memory.
class gpu_device : public accelerator {
public:
  virtual gpu::driver& driver() noexcept = 0;
  /// Itself, where it computes together with others (collectives.hpp).
  virtual collective_device* as_collective() noexcept { return nullptr; }
  /// Where kernels launch: at this moment, and on this thread.
  virtual stream compute() noexcept = 0;
  /// Where a kernel that is launched now may complain about the values that it is given.
  virtual device_error_flags::place device_errors() noexcept = 0;

  /// The one T that this device keeps, such as a library's handle: made by `make(*this)`, a
  /// result<std::shared_ptr<T>>, when it is first asked for. It goes with the device, when all that
  /// was launched has run. Where it cannot be made, that is tried again the next time.
  template <class T, class Make>
  result<T*> kept(Make&& make) {
    std::lock_guard guard{kept_mutex_};
    auto& found = kept_[typeid(T)];
    if (!found) {
      TROUPE_ASSIGN(std::shared_ptr<T> made, make(*this));
      found = std::move(made);
    }
    return static_cast<T*>(found.get());
  }

  /// Whether products and convolutions of floats may round their operands to 11 bits (TF32), which
  /// makes them several times as fast. They do not unless they are told so.
  bool rounds_operands() const noexcept { return rounds_operands_.load(std::memory_order_relaxed); }
  void round_operands(bool may) noexcept { rounds_operands_ = may; }

protected:
  /// When nothing runs any more, and streams are still there.
  void destroy_kept() noexcept { kept_.clear(); }

private:
  std::mutex kept_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  std::atomic<bool> rounds_operands_{false};
};

/// The GPU that a kernel runs on.
inline gpu_device& gpu_of(device& on) { return static_cast<gpu_device&>(*on.as_accelerator()); }

/// `host` runs what belongs to the GPU's partitions, but not on it.
result<std::shared_ptr<gpu_device>> make_device(std::unique_ptr<driver> of,
                                                std::shared_ptr<device> host,
                                                const device_options& options = {});

} // namespace troupe::gpu
