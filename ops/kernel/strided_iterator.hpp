// How a kernel walks operands whose elements lie at other places than the output's.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>
#include <array>

namespace troupe::ops {

/// The output's elements in order, and for each where up to two operands have theirs. Axes that can
/// be walked as one are merged, so that runs along the last axis are as long as possible.
class strided_iterator {
public:
  static constexpr int operands = 2;
  /// More than a tensor has: Tile walks each axis as two.
  static constexpr int max_axes = 2 * max_rank;
  using offsets = std::array<int64_t, operands>;

  strided_iterator() = default;

  /// Adds an axis inside of those that are there.
  void push_back(int64_t extent, offsets strides);

  /// For operands that are broadcast to `out` by NumPy's rules.
  static strided_iterator broadcast(const shape& out, const shape& a, const shape& b = {});

  int64_t elements() const noexcept { return elements_; }
  int rank() const noexcept { return rank_; }
  int64_t extent(int axis) const { return extents_[static_cast<size_t>(axis)]; }
  int64_t stride(int axis, int operand) const {
    return strides_[static_cast<size_t>(axis)][static_cast<size_t>(operand)];
  }
  /// The distance between neighbours of a run.
  int64_t step(int operand) const { return rank_ ? stride(rank_ - 1, operand) : 0; }
  /// Where an operand has the element at this place of the output.
  offsets at(int64_t index) const;

  /// Calls `body(index, offsets, length)` for runs along the last axis that cover [begin, end).
  template <class Body>
  void runs(int64_t begin, int64_t end, Body&& body) const {
    if (begin >= end)
      return;
    if (rank_ == 0) {
      body(begin, offsets{}, end - begin);
      return;
    }
    position from{*this, begin};
    while (begin < end) {
      auto length = std::min(from.left(), end - begin);
      body(begin, from.where, length);
      begin += length;
      from.advance(length);
    }
  }

private:
  // A place in the strided_iterator.
  struct position {
    position(const strided_iterator& w, int64_t index);
    int64_t left() const {
      auto last = static_cast<size_t>(of.rank_ - 1);
      return of.extents_[last] - index[last];
    }
    void advance(int64_t length);

    const strided_iterator& of;
    std::array<int64_t, max_axes> index{};
    offsets where{};
  };

  int rank_ = 0;
  int64_t elements_ = 1;
  std::array<int64_t, max_axes> extents_{};
  std::array<offsets, max_axes> strides_{};
};

} // namespace troupe::ops
