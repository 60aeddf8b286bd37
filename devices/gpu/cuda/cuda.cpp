#include "troupe/devices/gpu/cuda/cuda.hpp"

#include "troupe/devices/gpu/core/kernel_selection.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/devices/gpu/cuda/cuda_driver.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace troupe {
namespace {

// A context takes hundreds of megabytes and a second to make: sessions share one for each device.
struct shared_gpus {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::weak_ptr<device>> by_ordinal; // the GPU, and the device on it
};

shared_gpus& all_gpus() {
  static shared_gpus shared;
  return shared;
}

result<std::shared_ptr<device>>
find_or_make(int gpu, int number, const std::shared_ptr<device>& host, const cuda_options& chosen) {
  auto& shared = all_gpus();
  std::lock_guard guard{shared.mutex};
  auto ordinal = gpu * chosen.devices_per_gpu + number;
  auto& shared_device = shared.by_ordinal[{gpu, ordinal}];
  if (auto existing = shared_device.lock())
    return existing;
  TROUPE_ASSIGN(auto driver, gpu::make_cuda_driver(gpu));
  auto shares = static_cast<size_t>(chosen.devices_per_gpu);
  auto limit = chosen.memory_limit ? chosen.memory_limit
                                   : driver->gpu_properties().total_memory / 10 * 9 / shares;
  TROUPE_ASSIGN(auto created, gpu::make_device(std::move(driver), host, ordinal,
                                               {.limit = limit,
                                                .reserve = chosen.memory_reserve,
                                                .give_back_after = chosen.memory_idle},
                                               chosen.watchdog));
  created->set_tf32(chosen.tf32);
  gpu::measure_convolutions(*created, chosen.measure_convolutions);
  if (!chosen.measure_convolutions)
    gpu::choose_layers(*created, gpu::layers_by::kernels);
  shared_device = created;
  return std::shared_ptr<device>{std::move(created)};
}

} // namespace

cuda_devices list_cuda_devices(const std::shared_ptr<device>& host, const cuda_options& chosen) {
  cuda_devices devices;
  auto count = gpu::count_cuda_gpus();
  if (!count || *count == 0) {
    devices.reasons = count ? "CUDA finds no GPU on this machine."
                            : concat("CUDA cannot be used: ", count.status().message(), '.');
    return devices;
  }
  devices.gpu_count = *count;
  if (chosen.devices_per_gpu < 1) {
    devices.reasons = concat("There cannot be ", chosen.devices_per_gpu, " devices on a GPU.");
    return devices;
  }
  std::vector<std::string> reasons;
  if (*count < chosen.max_gpus)
    reasons.push_back(concat("CUDA finds ", *count, " on this machine."));
  auto used_count = chosen.max_gpus < 0 ? *count : std::min(*count, chosen.max_gpus);
  for (int gpu = 0; gpu < used_count; ++gpu)
    for (int i = 0; i < chosen.devices_per_gpu; ++i) {
      auto created = find_or_make(gpu, i, host, chosen);
      if (created)
        devices.devices.push_back(*std::move(created));
      else
        reasons.push_back(
            concat("GPU ", gpu, " cannot be used: ", created.status().message(), '.'));
    }
  for (const auto& reason : reasons)
    devices.reasons += concat(devices.reasons.empty() ? "" : " ", reason);
  return devices;
}

} // namespace troupe
