// The division of a tensor into pieces that several tasks reduce together, and the ops for it
// (docs/decisions/060).
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Elements [begin, end) of a tensor, in row-major order.
struct piece {
  int64_t begin = 0, end = 0;

  int64_t elements() const noexcept { return end - begin; }
};

/// Returns piece `index` of `count` of a tensor with `elements` elements. Pieces start at aligned
/// addresses, so that they can be used in place; apart from that, they have equal sizes. If there
/// are few elements, some pieces are empty.
inline piece piece_of(int64_t elements, dtype type, int64_t index, int64_t count) noexcept {
  const auto grain = std::max<int64_t>(
      1, static_cast<int64_t>(tensor_alignment / std::max<size_t>(1, size_of(type))));
  const auto grains = elements / grain + (elements % grain != 0);
  const auto grains_per_piece = grains / count, larger = grains % count;
  auto start = [&](int64_t i) {
    return std::min(elements, (grains_per_piece * i + std::min(i, larger)) * grain);
  };
  return {start(index), index + 1 == count ? elements : start(index + 1)};
}

} // namespace troupe
