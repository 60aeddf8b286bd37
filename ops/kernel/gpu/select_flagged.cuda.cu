#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/gpu/workspace.cuda.hpp"

#ifdef __CUDACC__
#include <cub/device/device_select.cuh>
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

result<selected_places> select_flagged(kernel_context& at, const tensor& flags) {
  auto room = flags.elements();
  TROUPE_ASSIGN(auto places, tensor::make(dtype::i64, shape{room}, at.memory()));
  TROUPE_ASSIGN(auto count, tensor::make(dtype::i64, shape{}, at.memory()));
  const auto* from = static_cast<const uint8_t*>(flags.raw());
  auto* to = places.template data<int64_t>();
  auto* selected = count.template data<int64_t>();
#ifdef __CUDACC__
  TROUPE_TRY(with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(memory, bytes, thrust::counting_iterator<int64_t>{0}, from,
                                      to, selected, room, stream);
  }));
#else
  TROUPE_TRY(launch_alone(at, [=] {
    *selected = 0;
    for (int64_t i = 0; i < room; ++i)
      if (from[i])
        to[(*selected)++] = i;
  }));
#endif
  return selected_places{std::move(places), std::move(count)};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
