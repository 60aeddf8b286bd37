// Sums and arithmetic along the channels of a tensor: shared by the kernels of normalizations.
#pragma once
#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

namespace troupe::ops {

using doubles = std::vector<double>;

/// A tensor as rows of channels, transposed where the channels come first.
template <class T>
struct channel_rows {
  int64_t images = 0, inner = 0, rows = 0, channels = 0;
  bool turned = false;

  result<tensor> read(kernel_context& at, const tensor& from) const {
    if (!turned)
      return from;
    TROUPE_ASSIGN(auto memory, room(at));
    turn(at, from.data<T>(), memory.template data<T>(), images, channels, inner);
    return memory;
  }
  result<tensor> room(kernel_context& at) const {
    return tensor::make(dtype_of<T>, shape{rows, channels}, at.memory());
  }
  void write(kernel_context& at, const tensor& from, const tensor& to) const {
    if (turned)
      turn(at, from.data<T>(), to.data<T>(), images, inner, channels);
  }
};

template <class T>
result<channel_rows<T>> rows_of(kernel_context& at, const tensor& x) {
  TROUPE_ASSIGN(auto view, view_normalized(at, x.dims()));
  return channel_rows<T>{view.outer, view.inner, view.outer * view.inner, view.channels,
                         view.inner != 1};
}

/// The elements of a vector of any floating type; there must be `count`, or with `or_none` none.
inline result<doubles> channel_values(const tensor& vector, int64_t count, std::string_view name,
                                      bool or_none = false) {
  TROUPE_TRY(expect_channels(vector, count, name, or_none));
  auto read = [&]<class T>(std::span<T> values) { return doubles(values.begin(), values.end()); };
  auto widened = [&]<class T>(std::span<T> values) {
    doubles converted;
    for (auto value : values)
      converted.push_back(static_cast<float>(value));
    return converted;
  };
  switch (vector.type()) {
    case dtype::bf16: return widened(vector.values<bfloat16>());
    case dtype::f32: return read(vector.values<float>());
    default: return read(vector.values<double>());
  }
}

inline status give(kernel_context& at, int i, const doubles& values) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{static_cast<int64_t>(values.size())}));
  for (size_t c = 0; c < values.size(); ++c)
    switch (out->type()) {
      case dtype::bf16:
        out->template data<bfloat16>()[c] = bfloat16{static_cast<float>(values[c])};
        break;
      case dtype::f32: out->template data<float>()[c] = static_cast<float>(values[c]); break;
      default: out->template data<double>()[c] = values[c];
    }
  return {};
}

template <class T>
std::vector<T> rounded(const doubles& from) {
  return {from.begin(), from.end()};
}

// Adds a row to two sums of each channel: of a, and of a times the distance of b from the centre.
template <class T, class N = compute_type<T>>
inline __attribute__((always_inline)) void add_row(const T* a, const T* b, const N* centre_a,
                                                   const N* centre_b, N* sums, N* products,
                                                   int64_t count) {
#pragma GCC ivdep
  for (int64_t c = 0; c < count; ++c) {
    auto value = static_cast<N>(widen(a[c])) - centre_a[c];
    sums[c] += value;
    products[c] += value * (static_cast<N>(widen(b[c])) - centre_b[c]);
  }
}
template <class T>
TROUPE_SIMD_CLONES void add_row_hot(const T* a, const T* b, const T* centre_a, const T* centre_b,
                                    T* sums, T* products, int64_t count) {
  add_row(a, b, centre_a, centre_b, sums, products, count);
}

/// The sums over rows of (a - centre_a) and of (a - centre_a) * (b - centre_b).
struct two_sums {
  doubles sums, products;
};

// Rows are summed in blocks, whose totals are added in double precision and in order. The result
// does not depend on the number of threads.
template <class T>
two_sums sum_rows(kernel_context& at, const channel_rows<T>& rows, const T* a, const T* b,
                  const doubles& centre_a, const doubles& centre_b) {
  using number = compute_type<T>;
  auto from_a = rounded<number>(centre_a), from_b = rounded<number>(centre_b);
  auto channels = static_cast<size_t>(rows.channels);
  two_sums total{doubles(channels), doubles(channels)};
  if (rows.channels == 0)
    return total;
  constexpr int64_t block = 128, blocks_at_once = 256;
  for (int64_t first = 0; first < rows.rows; first += block * blocks_at_once) {
    auto last = std::min(rows.rows, first + block * blocks_at_once);
    auto blocks = (last - first + block - 1) / block;
    std::vector<number> parts(static_cast<size_t>(blocks) * 2 * channels);
    at.parallel_for(
        blocks, 0.5 * static_cast<double>(block * rows.channels), [&](int64_t begin, int64_t end) {
          for (auto i = begin; i < end; ++i) {
            auto* sums = parts.data() + static_cast<size_t>(i) * 2 * channels;
            for (auto row = first + i * block; row < std::min(last, first + (i + 1) * block); ++row)
              if constexpr (is_hot<T>)
                add_row_hot(a + row * rows.channels, b + row * rows.channels, from_a.data(),
                            from_b.data(), sums, sums + channels, rows.channels);
              else
                add_row(a + row * rows.channels, b + row * rows.channels, from_a.data(),
                        from_b.data(), sums, sums + channels, rows.channels);
          }
        });
    for (size_t i = 0; i < parts.size(); i += 2 * channels)
      for (size_t c = 0; c < channels; ++c) {
        total.sums[c] += double{parts[i + c]};
        total.products[c] += double{parts[i + channels + c]};
      }
  }
  return total;
}

// y = a * by_a + (b - centre) * by_b + offset, per channel; y may be a or b.
template <class T, class N = compute_type<T>>
inline __attribute__((always_inline)) void combine_row(const T* a, const T* b, const N* by_a,
                                                       const N* centre, const N* by_b,
                                                       const N* offset, T* y, int64_t count) {
#pragma GCC ivdep
  for (int64_t c = 0; c < count; ++c)
    y[c] = static_cast<T>(static_cast<N>(widen(a[c])) * by_a[c] +
                          (static_cast<N>(widen(b[c])) - centre[c]) * by_b[c] + offset[c]);
}
template <class T>
TROUPE_SIMD_CLONES void combine_row_hot(const T* a, const T* b, const T* by_a, const T* centre,
                                        const T* by_b, const T* offset, T* y, int64_t count) {
  combine_row(a, b, by_a, centre, by_b, offset, y, count);
}

// y = (x - centre) * by + offset.
template <class T, class N = compute_type<T>>
inline __attribute__((always_inline)) void scale_row(const T* x, const N* centre, const N* by,
                                                     const N* offset, T* y, int64_t count) {
#pragma GCC ivdep
  for (int64_t c = 0; c < count; ++c)
    y[c] = static_cast<T>((static_cast<N>(widen(x[c])) - centre[c]) * by[c] + offset[c]);
}
template <class T>
TROUPE_SIMD_CLONES void scale_row_hot(const T* x, const T* centre, const T* by, const T* offset,
                                      T* y, int64_t count) {
  scale_row(x, centre, by, offset, y, count);
}

template <class T, class Row>
void for_each_row(kernel_context& at, const channel_rows<T>& rows, const Row& body) {
  if (rows.channels == 0)
    return;
  at.parallel_for(
      rows.rows, 0.6 * static_cast<double>(rows.channels), [&](int64_t begin, int64_t end) {
        for (auto i = begin * rows.channels; i < end * rows.channels; i += rows.channels)
          body(i);
      });
}

} // namespace troupe::ops
