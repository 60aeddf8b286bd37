// How a tensor that several tasks reduce together is cut into pieces, and the ops that do it
// (docs/decisions/060).
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Elements [begin, end) of a tensor, as it lies in memory.
struct piece {
  int64_t begin = 0, end = 0;

  int64_t elements() const noexcept { return end - begin; }
};

/// Piece `index` of `count` of a tensor of so many elements of that type. Pieces begin where memory
/// is aligned as that of tensors has to be, so that they can be used where they lie; but for that,
/// they are of equal size. Of few elements, some pieces are empty.
inline piece piece_of(int64_t elements, dtype type, int64_t index, int64_t count) noexcept {
  const auto grain = std::max<int64_t>(
      1, static_cast<int64_t>(tensor_alignment / std::max<size_t>(1, size_of(type))));
  const auto grains = elements / grain + (elements % grain != 0);
  const auto each = grains / count, larger = grains % count;
  auto start = [&](int64_t i) {
    return std::min(elements, (each * i + std::min(i, larger)) * grain);
  };
  return {start(index), index + 1 == count ? elements : start(index + 1)};
}

} // namespace troupe
