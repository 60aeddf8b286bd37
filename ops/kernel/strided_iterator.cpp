#include "troupe/ops/kernel/strided_iterator.hpp"

namespace troupe::ops {

void strided_iterator::push_back(int64_t extent, offsets strides) {
  elements_ *= extent;
  if (extent == 1)
    return;
  auto last = static_cast<size_t>(rank_ - 1);
  if (rank_ > 0) {
    bool continues = true;
    for (size_t i = 0; i < operands; ++i)
      continues = continues && strides_[last][i] == strides[i] * extent;
    if (continues) {
      extents_[last] *= extent;
      strides_[last] = strides;
      return;
    }
  }
  extents_[last + 1] = extent;
  strides_[last + 1] = strides;
  ++rank_;
}

strided_iterator strided_iterator::broadcast(const shape& out, const shape& a, const shape& b) {
  std::array<offsets, max_rank> strides{};
  const std::array<const shape*, operands> from{&a, &b};
  for (size_t i = 0; i < operands; ++i) {
    int64_t stride = 1;
    auto missing = out.rank() - from[i]->rank();
    for (int axis = out.rank() - 1; axis >= missing; --axis) {
      auto extent = (*from[i])[axis - missing];
      strides[static_cast<size_t>(axis)][i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  strided_iterator iterator;
  for (int axis = 0; axis < out.rank(); ++axis)
    iterator.push_back(out[axis], strides[static_cast<size_t>(axis)]);
  return iterator;
}

strided_iterator::offsets strided_iterator::at(int64_t index) const {
  return position{*this, index}.where;
}

strided_iterator::position::position(const strided_iterator& w, int64_t at) : iterator(w) {
  for (auto axis = static_cast<size_t>(iterator.rank_); axis-- > 0;) {
    auto extent = iterator.extents_[axis];
    index[axis] = extent > 0 ? at % extent : 0;
    at = extent > 0 ? at / extent : 0;
    for (size_t i = 0; i < operands; ++i)
      where[i] += index[axis] * iterator.strides_[axis][i];
  }
}

void strided_iterator::position::advance(int64_t length) {
  auto axis = static_cast<size_t>(iterator.rank_ - 1);
  index[axis] += length;
  for (size_t i = 0; i < operands; ++i)
    where[i] += length * iterator.strides_[axis][i];
  for (; axis > 0 && index[axis] == iterator.extents_[axis]; --axis) {
    index[axis] = 0;
    ++index[axis - 1];
    for (size_t i = 0; i < operands; ++i)
      where[i] +=
          iterator.strides_[axis - 1][i] - iterator.extents_[axis] * iterator.strides_[axis][i];
  }
}

} // namespace troupe::ops
