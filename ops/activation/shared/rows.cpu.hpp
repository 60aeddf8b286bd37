// Shared by the kernels that work on rows of logits.
#pragma once
#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops {

/// A row, in the type of the computation.
template <class T>
using row = Eigen::Map<Eigen::Array<compute_type<T>, 1, Eigen::Dynamic>>;

/// Approximate cost of exponentials and logarithms, in nanoseconds per element.
inline constexpr double nanoseconds_per_exponential = 2.5;

/// Presents rows of halves as rows of float: `from` copies a row in, `to` copies it out.
template <class T>
class staged_row {
public:
  explicit staged_row(int64_t size) {
    if constexpr (is_half<T>)
      memory_.resize(size);
    size_ = size;
  }
  /// The row at this offset, for reading and scratch; changes reach `memory` only through `to`.
  row<T> from(const T* memory) {
    if constexpr (is_half<T>) {
      std::transform(memory, memory + size_, memory_.data(),
                     [](T x) { return static_cast<float>(x); });
      return {memory_.data(), size_};
    } else {
      return {const_cast<T*>(memory), size_};
    }
  }
  /// A row for output.
  row<T> over(T* memory) {
    if constexpr (is_half<T>)
      return {memory_.data(), size_};
    else
      return {memory, size_};
  }
  void to([[maybe_unused]] T* memory) {
    if constexpr (is_half<T>)
      std::transform(memory_.data(), memory_.data() + size_, memory, [](float x) { return T{x}; });
  }

private:
  struct nothing {};
  [[no_unique_address]] std::conditional_t<is_half<T>, Eigen::ArrayXf, nothing> memory_;
  int64_t size_ = 0;
};

/// Calls `body(x, y)` for each row x of input 0 and its row y of output 0. x and y may be the same
/// memory.
template <class T, class Body>
status map_rows(kernel_context& at, Body body) {
  const auto& in = at.input(0);
  if (in.rank() == 0)
    return invalid("logits must have a last axis, got a scalar");
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, in.dims()));
  auto size = row_size(in.dims());
  if (in.elements() == 0)
    return {};
  const auto* x = in.data<T>();
  auto* y = out->template data<T>();
  at.parallel_for(row_count(in.dims()), nanoseconds_per_exponential * static_cast<double>(size),
                  [&](int64_t begin, int64_t end) {
                    staged_row<T> read{size}, written{size};
                    for (auto i = begin * size; i < end * size; i += size) {
                      body(read.from(x + i), written.over(y + i));
                      written.to(y + i);
                    }
                  });
  return {};
}

} // namespace troupe::ops
