#include "troupe/devices/cuda/cuda.hpp"

#include "troupe/devices/cuda/cuda_driver.hpp"
#include "troupe/devices/gpu/gpu_device.hpp"

#include <map>
#include <mutex>

namespace troupe {
namespace {

// A context takes hundreds of megabytes and a second: sessions share one for each GPU.
struct shared_gpus {
  std::mutex mutex;
  std::map<int, std::weak_ptr<device>> by_ordinal;
};

shared_gpus& all_gpus() {
  static shared_gpus all;
  return all;
}

result<std::shared_ptr<device>> find_or_make(int ordinal, const std::shared_ptr<device>& host,
                                             size_t memory_limit) {
  auto& all = all_gpus();
  std::lock_guard guard{all.mutex};
  auto& known = all.by_ordinal[ordinal];
  if (auto found = known.lock())
    return found;
  TROUPE_ASSIGN(auto driver, gpu::make_cuda_driver(ordinal));
  TROUPE_ASSIGN(auto made, gpu::make_device(std::move(driver), host,
                                            {.ordinal = ordinal, .memory_limit = memory_limit}));
  known = made;
  return std::shared_ptr<device>{std::move(made)};
}

} // namespace

cuda_devices list_cuda_devices(const std::shared_ptr<device>& host, size_t memory_limit) {
  cuda_devices all;
  auto count = gpu::count_cuda_gpus();
  if (!count || *count == 0) {
    all.why_none = count ? "CUDA finds no GPU on this machine."
                         : concat("CUDA cannot be used: ", count.status().message(), '.');
    return all;
  }
  for (int i = 0; i < *count; ++i) {
    auto made = find_or_make(i, host, memory_limit);
    if (made)
      all.found.push_back(*std::move(made));
    else
      all.why_none += concat("GPU ", i, " cannot be used: ", made.status().message(), ". ");
  }
  return all;
}

} // namespace troupe
