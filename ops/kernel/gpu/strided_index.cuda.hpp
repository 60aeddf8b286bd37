// The positions of a strided_iterator for GPU kernels: by index instead of by iteration.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The position of each operand's element, in the order of a strided_iterator.
class strided_index {
public:
  explicit strided_index(const strided_iterator& from)
      : rank_(from.rank()), narrow_(from.elements() < 1ll << 31) {
    for (int axis = 0; axis < rank_; ++axis) {
      extents_[axis] = from.extent(axis);
      for (int i = 0; i < strided_iterator::operands; ++i)
        strides_[axis][i] = from.stride(axis, i);
    }
  }

  struct offsets {
    int64_t of[strided_iterator::operands] = {};
  };
  TROUPE_DEVICE offsets at(int64_t index) const {
    offsets positions;
    if (narrow_)
      locate(static_cast<uint32_t>(index), positions); // a 32-bit division costs a quarter
    else
      locate(static_cast<uint64_t>(index), positions);
    return positions;
  }
  /// The position of the first operand alone.
  TROUPE_DEVICE int64_t operator[](int64_t index) const { return at(index).of[0]; }

private:
  template <class Index>
  TROUPE_DEVICE void locate(Index remaining, offsets& positions) const {
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      auto extent = static_cast<Index>(extents_[axis]);
      auto quotient = axis > 0 ? static_cast<Index>(remaining / extent) : Index{0};
      auto place = static_cast<int64_t>(remaining - quotient * extent);
      for (int i = 0; i < strided_iterator::operands; ++i)
        positions.of[i] += place * strides_[axis][i];
      remaining = quotient;
    }
  }

  int rank_;
  bool narrow_;
  int64_t extents_[strided_iterator::max_axes] = {};
  int64_t strides_[strided_iterator::max_axes][strided_iterator::operands] = {};
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
