#include "troupe/devices/cpu/cpu_device.hpp"

#include "troupe/devices/cpu/cpu_allocator.hpp"
#include "troupe/devices/cpu/thread_team.hpp"

#include <algorithm>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace troupe {
namespace {

size_t physical_memory() {
  auto pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
}

std::string processor_model() {
  std::ifstream cpu_info{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpu_info, line);)
    if (line.starts_with("model name"))
      if (auto colon = line.find(": "); colon != line.npos)
        return line.substr(colon + 2);
  return "processor";
}

int threads_for(int requested) {
  return requested > 0 ? requested
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Large enough for the working set of a step, small enough to leave memory to other processes.
size_t cache_limit() {
  return std::clamp(physical_memory() / 8, size_t{64} << 20, size_t{1} << 30);
}

class cpu_device final : public device {
public:
  explicit cpu_device(const cpu_options& options)
      : ordinal_(options.ordinal),
        memory_(cpu_allocator::make(options.memory_limit, cache_limit())),
        swap_(options.swap_space),
        team_(thread_team::shared(threads_for(options.intra_op_threads))) {}

  device_kind kind() const noexcept override { return device_kind::cpu; }
  int ordinal() const noexcept override { return ordinal_; }
  int threads() const noexcept override { return team_->threads(); }
  std::string description() const override {
    return concat(processor_model(), ", ", team_->threads(), " threads for each loop, ",
                  physical_memory() >> 20, " MiB of memory");
  }
  size_t memory_limit() const noexcept override {
    return memory_->limit() ? memory_->limit() : physical_memory();
  }
  allocator& memory() noexcept override { return *memory_; }
  memory_statistics statistics() const override {
    auto usage = memory_->statistics();
    usage.swapped = swap_.in_use();
    return usage;
  }
  swap_space* swap() noexcept override { return &swap_; }
  void release_cached_memory() noexcept override { memory_->release_cached(); }

  void parallel_ranges(int64_t items, double nanoseconds_per_item, range_body body,
                       stop_signal* stop) override {
    team_->run(items, nanoseconds_per_item, body, stop);
  }

private:
  const int ordinal_;
  const cpu_allocator::owner memory_;
  swap_space swap_;
  const std::shared_ptr<thread_team> team_;
};

} // namespace

std::unique_ptr<device> make_cpu_device(cpu_options options) {
  return std::make_unique<cpu_device>(options);
}

} // namespace troupe
