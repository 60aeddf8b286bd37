#include "tests/support/gpu_world.hpp"

#include "tests/support/simulated_gpus.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <future>
#include <random>

namespace troupe::test {

gpu_world gpu_world::simulated() {
  return {&simulated_library(),
          [](const gpu::memory_options& memory) -> result<std::vector<std::shared_ptr<device>>> {
            return make_simulated_devices(1, {.seed = std::random_device{}()}, memory);
          }};
}

gpu_world gpu_world::real() {
  return {&library(), [](const gpu::memory_options& memory) {
            return make_devices({.intra_op_threads = 1,
                                 .gpus = 1,
                                 .gpu_memory_limit = memory.limit,
                                 .gpu_memory_reserve = memory.reserve,
                                 .gpu_memory_idle = memory.give_back_after});
          }};
}

gpu_world_session::gpu_world_session(const gpu_world& world, client_options options,
                                     const gpu::memory_options& memory) {
  devices = value_or_throw(world.make(memory));
  options.ops = world.ops;
  options.make_devices = [this] { return devices; };
  options.inter_op_threads = 2;
  client = value_or_throw(client::local(std::move(options)));
}

void gpu_world_session::settle() const {
  std::promise<void> is_done;
  devices.back()->as_accelerator()->notify_when_done([&](const status&) { is_done.set_value(); });
  is_done.get_future().wait();
}

} // namespace troupe::test
