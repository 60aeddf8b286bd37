// Kernels that combine blocks of a tensor with updates: ScatterNd and the TensorScatter ops.
#pragma once
#include "troupe/ops/index/shared/tensor_scatter.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {

/// Combines the blocks of `to` with the updates, in their order. Threads divide the columns into
/// bands; they do not divide the updates, because several may address one block.
template <class T, class Combine>
void scatter(kernel_context& at, const tensor& updates, const named_blocks& blocks,
             const tensor& to) {
  constexpr int64_t columns = 512;
  const T* source = updates.data<T>();
  T* target = to.data<T>();
  auto cost = (3 + static_cast<double>(std::min(columns, blocks.length))) *
              static_cast<double>(blocks.places.size());
  auto bands = (blocks.length + columns - 1) / columns;
  at.parallel_for(bands, cost, [&](int64_t begin, int64_t end) {
    auto first = begin * columns, last = std::min(end * columns, blocks.length);
    const T* from = source;
    for (size_t i = 0; i < blocks.places.size(); ++i, from += blocks.length) {
      if (i % 10'000 == 9'999 && at.stopped())
        return;
      if (blocks.places[i] < 0)
        continue;
      T* block = target + blocks.places[i] * blocks.length;
      for (auto k = first; k < last; ++k)
        block[k] = static_cast<T>(
            Combine{}(compute_type<T>{widen(block[k])}, compute_type<T>{widen(from[k])}));
    }
  });
}

/// The blocks of a tensor of these extents that input `indices` selects. Their number must be the
/// number of updates.
inline result<named_blocks> blocks_to_update(kernel_context& at, const tensor& indices,
                                             const tensor& updates, const shape& dims) {
  TROUPE_ASSIGN(auto blocks, blocks_named(at, indices, dims, at.state<std::string>()));
  TROUPE_TRY(check_updates(blocks.dims, updates));
  return blocks;
}

template <class T, class Combine>
status tensor_scatter(kernel_context& at) {
  const auto& updates = at.input(2);
  TROUPE_ASSIGN(auto blocks, blocks_to_update(at, at.input(1), updates, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  scatter<T, Combine>(at, updates, blocks, *out);
  return {};
}

template <class Combine, class... Ts>
constexpr inplace_vector<typed_kernel, 18> tensor_scatter_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, tensor_scatter<Ts, Combine>}...};
}

} // namespace troupe::ops
