// Converts tensors to the axis order and element type that the nn kernels compute in.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops {

/// Swaps the last two axes of [images, rows, columns].
template <class T>
void turn(kernel_context& at, const T* from, T* to, int64_t images, int64_t rows, int64_t columns) {
  if (images == 0 || rows == 0)
    return;
  constexpr int64_t tile = 16;
  auto bands = (columns + tile - 1) / tile;
  at.parallel_for(images * bands, static_cast<double>(rows * tile),
                  [&](int64_t begin, int64_t end) {
                    for (auto band = begin; band < end; ++band) {
                      auto first = band / bands * rows * columns, left = band % bands * tile;
                      auto right = std::min(left + tile, columns);
                      for (int64_t row = 0; row < rows; ++row)
                        for (auto column = left; column < right; ++column)
                          to[first + column * rows + row] = from[first + row * columns + column];
                    }
                  });
}

/// Memory for such a tensor; the pointer only selects the type.
template <class T>
result<tensor> turned_like(kernel_context& at, const T*, int64_t images, int64_t rows,
                           int64_t columns) {
  TROUPE_ASSIGN(auto dims, shape::make(std::array{images, columns, rows}));
  auto type = std::is_same_v<T, uint32_t> ? dtype::u32 : dtype_of<T>;
  return tensor::make(type, dims, at.memory());
}

/// Converts a tensor of halves to one of floats.
template <class T>
result<tensor> as_floats(kernel_context& at, const tensor& from) {
  TROUPE_ASSIGN(auto floats, tensor::make(dtype::f32, from.dims(), at.memory()));
  const auto* x = from.data<T>();
  auto* y = floats.template data<float>();
  at.parallel_for(from.elements(), 0.5, [&](int64_t begin, int64_t end) {
    std::transform(x + begin, x + end, y + begin,
                   [](T value) { return static_cast<float>(value); });
  });
  return floats;
}

template <class T>
void from_floats(kernel_context& at, const tensor& from, T* to) {
  const auto* x = from.data<float>();
  at.parallel_for(from.elements(), 0.5, [&](int64_t begin, int64_t end) {
    std::transform(x + begin, x + end, to + begin, [](float value) { return T{value}; });
  });
}

} // namespace troupe::ops
