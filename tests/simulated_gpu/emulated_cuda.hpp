// The few names of CUDA that our kernels use, for the processor's compiler: their grids are
// emulated. All threads of a grid take turns on the calling thread of the host.
#pragma once
#ifdef __CUDACC__
#error "nvcc has the true ones"
#endif

#include <functional>

#define __global__
#define __host__
#define __device__
#define __shared__ static thread_local // blocks run one after the other
#define threadIdx ::troupe::gpu::emulated.thread
#define blockIdx ::troupe::gpu::emulated.block
#define blockDim ::troupe::gpu::emulated.block_size
#define gridDim ::troupe::gpu::emulated.grid_size

namespace troupe::gpu {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) noexcept : x(x), y(y), z(z) {}
};

/// The index of the emulated thread that is running.
struct emulated_place {
  dim3 thread{0, 0, 0}, block{0, 0, 0}, block_size, grid_size;
};
inline thread_local emulated_place emulated;

/// Runs the kernel once for each thread of the grid. Threads that wait for each other, in a warp or
/// a block, take turns in an order that changes with each wait: reading a value that another thread
/// has not yet written gives nonsense. If a thread ends while others wait for it, the process ends
/// with a message: a GPU would hang, or worse.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel);

/// The same for kernels whose threads do not wait for each other.
void run_grid_apart(dim3 grid, dim3 block, const std::function<void()>& kernel);

void wait_for_warp();
void wait_for_block();

} // namespace troupe::gpu

inline void __syncwarp() { troupe::gpu::wait_for_warp(); }
inline void __syncthreads() { troupe::gpu::wait_for_block(); }
