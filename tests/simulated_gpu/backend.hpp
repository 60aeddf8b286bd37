// How kernels are launched on simulated GPUs, whose grids are emulated: a back end for
// ops/kernel/gpu/launch.cuda.hpp.
#pragma once
#include "tests/simulated_gpu/emulated_cuda.hpp"
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/device_errors.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/core/layers.hpp"
#include "troupe/devices/gpu/core/solver.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <atomic>

#define TROUPE_GPU_KERNEL(op) op##_simulated
#define TROUPE_ON_GRID

namespace troupe::test {
/// Replaces the libraries of linear algebra.
gpu::solver& simulated_solver();
/// Replaces the library of layers; usually null, for none.
gpu::layer_library* simulated_layers();
} // namespace troupe::test

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// Small, so that tests with few elements have several elements in a thread, and several blocks.
inline constexpr int threads_per_block = 64;
inline constexpr int64_t max_blocks = 3;
inline constexpr int64_t max_of_a_warp = 40;

template <bool together, class... Params>
status launch(kernel_context& at, void (*kernel)(Params...), unsigned blocks,
              std::type_identity_t<Params>... args) {
  auto& device = troupe::gpu::gpu_of(at.device());
  return static_cast<troupe::gpu::simulated_driver&>(device.driver())
      .launch(
          [=]() -> status {
            auto run = together ? troupe::gpu::run_grid : troupe::gpu::run_grid_apart;
            run(blocks, threads_per_block, [&] { kernel(args...); });
            return {};
          },
          device.compute());
}

inline bool begin_device_error(int& stage) {
  int expected = troupe::gpu::device_error::none;
  return std::atomic_ref{stage}.compare_exchange_strong(expected,
                                                        troupe::gpu::device_error::in_writing);
}
inline void end_device_error(int& stage) {
  std::atomic_ref{stage}.store(troupe::gpu::device_error::written);
}

inline result<troupe::gpu::solver*> solver_of(kernel_context&) {
  return &troupe::test::simulated_solver();
}
inline troupe::gpu::layer_library* layers() { return troupe::test::simulated_layers(); }

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
