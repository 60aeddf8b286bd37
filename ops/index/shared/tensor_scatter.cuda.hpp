// GPU kernels that combine blocks of a tensor with updates.
#pragma once
#include "troupe/ops/index/shared/tensor_scatter.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline constexpr auto scattered_types = types::floating + type_list<int32_t, int64_t>{};

/// Calls change(sorted, length) with the updates of the blocks that the indices select in a tensor
/// of these extents.
template <class Change>
status scatter_blocks(kernel_context& at, const tensor& indices, const tensor& updates,
                      const shape& dims, Change change) {
  const auto& policy = at.state<std::string>();
  TROUPE_ASSIGN(auto blocks, block_shape_of(indices, dims, policy));
  TROUPE_TRY(check_updates(blocks.dims, updates));
  TROUPE_ASSIGN(auto sorted,
                sort_updates(at, indices, blocks.count, blocks.depth, dims, policy == "IGNORE"));
  return change(sorted, blocks.length);
}

template <class T, class Combine>
status tensor_scatter(kernel_context& at) {
  const auto& updates = at.input(2);
  return scatter_blocks(at, at.input(1), updates, at.input(0).dims(),
                        [&](const sorted_updates& sorted, int64_t length) -> status {
                          TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
                          return change_parts(at, sorted, length, out->template data<T>(),
                                              updates.data<T>(), false, Combine{});
                        });
}

template <class Combine, class... Ts>
constexpr inplace_vector<typed_kernel, 18> tensor_scatter_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, tensor_scatter<Ts, Combine>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
