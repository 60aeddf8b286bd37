// The places that a strided_iterator names, for kernels of GPUs: by index instead of one after the
// other.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Where each operand has its element, in the order of a strided_iterator.
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
    offsets found;
    if (narrow_)
      locate(static_cast<uint32_t>(index), found); // a division costs a quarter
    else
      locate(static_cast<uint64_t>(index), found);
    return found;
  }
  /// Of the first operand alone.
  TROUPE_DEVICE int64_t operator[](int64_t index) const { return at(index).of[0]; }

private:
  template <class Index>
  TROUPE_DEVICE void locate(Index rest, offsets& found) const {
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      auto extent = static_cast<Index>(extents_[axis]);
      auto left = axis > 0 ? static_cast<Index>(rest / extent) : Index{0};
      auto place = static_cast<int64_t>(rest - left * extent);
      for (int i = 0; i < strided_iterator::operands; ++i)
        found.of[i] += place * strides_[axis][i];
      rest = left;
    }
  }

  int rank_;
  bool narrow_;
  int64_t extents_[strided_iterator::max_axes] = {};
  int64_t strides_[strided_iterator::max_axes][strided_iterator::operands] = {};
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
