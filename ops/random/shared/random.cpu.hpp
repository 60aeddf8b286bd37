// Shared by the kernels of random ops on processors.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/ops/random/shared/stream.hpp"

#include <algorithm>

namespace troupe::ops {

/// Uniform in [0, 1).
template <class T>
T uniform(uint64_t bits) {
  return static_cast<T>(even<T>(bits));
}

/// Fills the output with `draw(numbers, index)`, which returns an array of elements per block.
template <class T, size_t PerBlock, class Draw>
void fill_from(kernel_context& at, tensor& out, const philox& numbers, uint64_t first,
               double nanoseconds_per_block, Draw draw) {
  constexpr auto per_block = static_cast<int64_t>(PerBlock);
  auto elements = out.elements();
  auto* to = out.data<T>();
  at.parallel_for(
      blocks_for(elements, PerBlock), nanoseconds_per_block, [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          std::array<T, PerBlock> block_elements = draw(numbers, first + static_cast<uint64_t>(i));
          std::copy_n(block_elements.begin(), std::min(per_block, elements - i * per_block),
                      to + i * per_block);
        }
      });
}

/// Fills output 0, whose shape input 0 lists, with the next numbers of the node's stream.
template <class T, size_t PerBlock, class Draw>
status fill_random(kernel_context& at, double nanoseconds_per_block, Draw draw) {
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(blocks_for(dims.elements(), PerBlock)));
  fill_from<T, PerBlock>(at, *out, stream.numbers(), first, nanoseconds_per_block, draw);
  return {};
}

} // namespace troupe::ops
