// Iterates over operands whose elements have other positions than the output's.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>
#include <array>

namespace troupe::ops {

/// The output's elements in order, each with the positions of up to two operands' elements. Axes
/// are merged where possible, so that runs along the last axis are as long as possible.
class strided_iterator {
public:
  static constexpr int operands = 2;
  /// More axes than a tensor has: Tile splits each axis into two.
  static constexpr int max_axes = 2 * max_rank;
  using offsets = std::array<int64_t, operands>;

  strided_iterator() = default;

  /// Adds an axis inside the existing ones.
  void push_back(int64_t extent, offsets strides);

  /// For operands that are broadcast to `out` by NumPy's rules.
  static strided_iterator broadcast(const shape& out, const shape& a, const shape& b = {});

  int64_t elements() const noexcept { return elements_; }
  int rank() const noexcept { return rank_; }
  int64_t extent(int axis) const { return extents_[static_cast<size_t>(axis)]; }
  int64_t stride(int axis, int operand) const {
    return strides_[static_cast<size_t>(axis)][static_cast<size_t>(operand)];
  }
  /// The distance between adjacent elements of a run.
  int64_t step(int operand) const { return rank_ ? stride(rank_ - 1, operand) : 0; }
  /// The position of an operand's element for this position of the output.
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
      auto length = std::min(from.remaining_in_run(), end - begin);
      body(begin, from.where, length);
      begin += length;
      from.advance(length);
    }
  }

private:
  // A position of the strided_iterator.
  struct position {
    position(const strided_iterator& w, int64_t index);
    int64_t remaining_in_run() const {
      auto last = static_cast<size_t>(iterator.rank_ - 1);
      return iterator.extents_[last] - index[last];
    }
    void advance(int64_t length);

    const strided_iterator& iterator;
    std::array<int64_t, max_axes> index{};
    offsets where{};
  };

  int rank_ = 0;
  int64_t elements_ = 1;
  std::array<int64_t, max_axes> extents_{};
  std::array<offsets, max_axes> strides_{};
};

} // namespace troupe::ops
