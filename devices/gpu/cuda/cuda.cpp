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

// A context takes hundreds of megabytes and a second: sessions share one for each device.
struct shared_gpus {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::weak_ptr<device>> by_place; // the GPU, and which device on it
};

shared_gpus& all_gpus() {
  static shared_gpus all;
  return all;
}

result<std::shared_ptr<device>>
find_or_make(int gpu, int number, const std::shared_ptr<device>& host, const cuda_choice& chosen) {
  auto& all = all_gpus();
  std::lock_guard guard{all.mutex};
  auto ordinal = gpu * chosen.devices_per_gpu + number;
  auto& known = all.by_place[{gpu, ordinal}];
  if (auto found = known.lock())
    return found;
  TROUPE_ASSIGN(auto driver, gpu::make_cuda_driver(gpu));
  auto shares = static_cast<size_t>(chosen.devices_per_gpu);
  auto limit =
      chosen.memory_limit ? chosen.memory_limit : driver->about().total_memory / 10 * 9 / shares;
  TROUPE_ASSIGN(auto made, gpu::make_device(std::move(driver), host, ordinal,
                                            {.limit = limit,
                                             .reserve = chosen.memory_reserve,
                                             .give_back_after = chosen.memory_idle}));
  made->round_operands(chosen.tf32);
  gpu::measure_convolutions(*made, chosen.measure_convolutions);
  if (!chosen.measure_convolutions)
    gpu::choose_layers(*made, gpu::layers_by::kernels);
  known = made;
  return std::shared_ptr<device>{std::move(made)};
}

} // namespace

cuda_devices list_cuda_devices(const std::shared_ptr<device>& host, const cuda_choice& chosen) {
  cuda_devices all;
  auto count = gpu::count_cuda_gpus();
  if (!count || *count == 0) {
    all.why_fewer = count ? "CUDA finds no GPU on this machine."
                          : concat("CUDA cannot be used: ", count.status().message(), '.');
    return all;
  }
  all.listed = *count;
  if (chosen.devices_per_gpu < 1) {
    all.why_fewer = concat("There cannot be ", chosen.devices_per_gpu, " devices on a GPU.");
    return all;
  }
  std::vector<std::string> whys;
  if (*count < chosen.most)
    whys.push_back(concat("CUDA finds ", *count, " on this machine."));
  auto wanted = chosen.most < 0 ? *count : std::min(*count, chosen.most);
  for (int gpu = 0; gpu < wanted; ++gpu)
    for (int i = 0; i < chosen.devices_per_gpu; ++i) {
      auto made = find_or_make(gpu, i, host, chosen);
      if (made)
        all.found.push_back(*std::move(made));
      else
        whys.push_back(concat("GPU ", gpu, " cannot be used: ", made.status().message(), '.'));
    }
  for (const auto& why : whys)
    all.why_fewer += concat(all.why_fewer.empty() ? "" : " ", why);
  return all;
}

} // namespace troupe
