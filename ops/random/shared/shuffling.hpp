// Random permutations.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/ops/random/shared/stream.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <numeric>

namespace troupe::ops {

/// The numbers of this many rows, shuffled by the next numbers of the node's stream; an empty
/// tensor where the step is to stop. The host computes it.
inline result<tensor> shuffled(kernel_context& at, int64_t rows, allocator& memory) {
  TROUPE_ASSIGN(auto order, tensor::make(dtype::i64, shape{rows}, memory));
  auto* place = order.template data<int64_t>();
  std::iota(place, place + rows, int64_t{0});
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(rows));
  for (int64_t i = 0; i + 1 < rows; ++i) { // Fisher and Yates 1938
    if (i % 16384 == 16383 && at.stopped())
      return tensor{};
    auto block = stream.numbers()(first + static_cast<uint64_t>(i));
    auto remaining = static_cast<uint64_t>(rows - i);
    std::swap(place[i], place[i + static_cast<int64_t>(joined(block[0], block[1]) % remaining)]);
  }
  return order;
}

} // namespace troupe::ops
