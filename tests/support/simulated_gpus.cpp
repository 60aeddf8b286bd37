#include "tests/support/simulated_gpus.hpp"

#include "tests/simulated_gpu/portable_kernels.hpp"
#include "tests/simulated_gpu/simulated_kernels.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include <stdexcept>

namespace troupe::test {
namespace {

void must(const status& outcome) {
  if (!outcome)
    throw std::runtime_error{outcome.message()};
}

} // namespace

const registry& simulated_library() {
  static std::deque<kernel_def> kernels;
  static const registry all = [] {
    registry made;
    must(ops::add_all(made, device_kind::cpu));
    must(add_checkpoint_work(made));
    for (const auto* one : portable_kernels())
      must(made.add(*one));
    kernels = gpu::simulated_kernels(made);
    for (const auto& one : kernels)
      must(made.add(one));
    return made;
  }();
  return all;
}

std::vector<std::shared_ptr<device>> make_simulated_devices(int gpus, const gpu::simulation& like,
                                                            const gpu::memory_options& memory) {
  std::vector<std::shared_ptr<device>> made{make_cpu_device({.intra_op_threads = 1})};
  for (int i = 0; i < gpus; ++i) {
    auto options = like;
    options.seed += static_cast<unsigned>(i) * 100;
    auto one = gpu::make_device(gpu::make_simulated_driver(options), made.front(), i, memory);
    must(one.status());
    made.push_back(*std::move(one));
  }
  return made;
}

} // namespace troupe::test
