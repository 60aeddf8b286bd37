#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/random/shared/shuffling.hpp"

namespace troupe::ops::random_shuffle_gpu {
namespace {

struct shuffled_place {
  const int64_t* order;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return order[i]; }
};

// Each swap depends on the previous ones, so the host computes the order.
status run_shuffle(kernel_context& at) {
  const auto& from = at.input(0);
  auto rows = from.rank() == 0 ? 1 : from.dims()[0];
  if (rows < 2 || from.elements() == 0) {
    at.set_output(0, from);
    return {};
  }
  TROUPE_ASSIGN(auto order, shuffled(at, rows, heap_allocator()));
  if (order.empty())
    return {};
  TROUPE_ASSIGN(auto uploaded, at.device().as_accelerator()->upload(order));
  TROUPE_ASSIGN(auto* out, at.allocate(0, from.dims()));
  return gpu::take_blocks(at, from, from.elements() / rows, *out,
                          shuffled_place{uploaded.template data<int64_t>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_shuffle){
    .op = "RandomShuffle",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_shuffle}},
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

} // namespace troupe::ops::random_shuffle_gpu
