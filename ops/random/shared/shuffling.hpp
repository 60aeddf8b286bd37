// Orders at random.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/ops/random/shared/stream.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <numeric>

namespace troupe::ops {

/// The numbers of so many rows, shuffled by what comes next in the node's stream: no tensor where
/// the step is to stop. Computed by the host.
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
    auto left = static_cast<uint64_t>(rows - i);
    std::swap(place[i], place[i + static_cast<int64_t>(joined(block[0], block[1]) % left)]);
  }
  return order;
}

} // namespace troupe::ops
