// Blocked and packed as in Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008), with a kernel for each width of vector registers, picked at run time.
#include "troupe/devices/cpu/double_gemm.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace troupe {
namespace {

// A block of a that stays in the second-level cache, and a panel of b that stays in the first.
constexpr int64_t depth = 256, block_rows = 96, block_columns = 960;
constexpr int64_t largest_tile = 8 * 24;

/// The rows and columns of the tile of c that stays in registers. `run` adds the product of a
/// packed strip of a (rows x depth) and one of b (depth x columns) to nothing, and writes the tile.
struct tile_kernel {
  int64_t rows, columns;
  void (*run)(int64_t k, const double* a, const double* b, double* tile);
};

template <int Lanes, int Rows, int Vectors>
inline __attribute__((always_inline)) void multiply_tile(int64_t k, const double* a,
                                                         const double* b, double* tile) {
  typedef double lanes __attribute__((vector_size(Lanes * sizeof(double))));
  lanes sums[Rows][Vectors] = {};
  for (int64_t p = 0; p < k; ++p, a += Rows, b += Lanes * Vectors) {
    lanes from_b[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      from_b[v] = reinterpret_cast<const lanes*>(b)[v];
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[row][v] += a[row] * from_b[v];
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      reinterpret_cast<lanes*>(tile)[row * Vectors + v] = sums[row][v];
}

void run_plain(int64_t k, const double* a, const double* b, double* tile) {
  multiply_tile<2, 4, 2>(k, a, b, tile);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void run_avx2(int64_t k, const double* a, const double* b,
                                                  double* tile) {
  multiply_tile<4, 4, 3>(k, a, b, tile);
}

__attribute__((target("avx512f"))) void run_avx512(int64_t k, const double* a, const double* b,
                                                   double* tile) {
  multiply_tile<8, 8, 3>(k, a, b, tile);
}
#endif

tile_kernel best_kernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {8, 24, run_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {4, 12, run_avx2};
#endif
  return {4, 4, run_plain};
}

class aligned_doubles {
public:
  explicit aligned_doubles(int64_t count)
      : memory_(static_cast<double*>(
            ::operator new (static_cast<size_t>(count) * sizeof(double), std::align_val_t{64}))) {}
  ~aligned_doubles() { ::operator delete (memory_, std::align_val_t{64}); }
  aligned_doubles(const aligned_doubles&) = delete;
  aligned_doubles& operator=(const aligned_doubles&) = delete;
  double* data() const { return memory_; }

private:
  double* memory_;
};

// Packs `count` rows of `of`, k elements each, into strips of `width` rows, column by column; rows
// that fill up the last strip are zero. With rows and columns exchanged, packs columns.
void pack(strided_matrix of, int64_t count, int64_t k, int64_t width, double* to) {
  for (int64_t first = 0; first < count; first += width) {
    auto rows = std::min(width, count - first);
    const auto* from = of.data + first * of.row_stride;
    if (of.column_stride == 1 && rows == width) { // reads along memory
      for (int64_t row = 0; row < width; ++row)
        for (int64_t p = 0; p < k; ++p)
          to[p * width + row] = from[row * of.row_stride + p];
      to += k * width;
      continue;
    }
    for (int64_t p = 0; p < k; ++p, to += width) {
      for (int64_t row = 0; row < rows; ++row)
        to[row] = from[row * of.row_stride + p * of.column_stride];
      std::fill(to + rows, to + width, 0.0);
    }
  }
}

int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

void store(const double* tile, int64_t width, double* c, int64_t stride, int64_t rows,
           int64_t columns, bool add) {
  for (int64_t row = 0; row < rows; ++row, tile += width, c += stride)
    if (add)
      for (int64_t column = 0; column < columns; ++column)
        c[column] += tile[column];
    else
      std::copy_n(tile, columns, c);
}

} // namespace

void multiply_doubles(int64_t m, int64_t n, int64_t k, strided_matrix a, strided_matrix b,
                      double* c, int64_t c_stride, stop_signal* stop) {
  static const auto kernel = best_kernel();
  auto [rows, columns, run] = kernel;
  auto deep = std::min(k, depth);
  aligned_doubles packed_a{round_up(std::min(m, block_rows), rows) * deep};
  aligned_doubles packed_b{round_up(std::min(n, block_columns), columns) * deep};
  alignas(64) double tile[largest_tile];
  for (int64_t j = 0; j < n; j += block_columns) {
    auto wide = std::min(block_columns, n - j);
    for (int64_t p = 0; p < k; p += depth) {
      deep = std::min(depth, k - p);
      const auto* from_b = b.data + p * b.row_stride + j * b.column_stride;
      pack({from_b, b.column_stride, b.row_stride}, wide, deep, columns, packed_b.data());
      for (int64_t i = 0; i < m; i += block_rows) {
        if (stop && stop->due())
          return;
        auto high = std::min(block_rows, m - i);
        const auto* from_a = a.data + i * a.row_stride + p * a.column_stride;
        pack({from_a, a.row_stride, a.column_stride}, high, deep, rows, packed_a.data());
        for (int64_t column = 0; column < wide; column += columns)
          for (int64_t row = 0; row < high; row += rows) {
            run(deep, packed_a.data() + row * deep, packed_b.data() + column * deep, tile);
            store(tile, columns, c + (i + row) * c_stride + j + column, c_stride,
                  std::min(rows, high - row), std::min(columns, wide - column), p > 0);
          }
      }
    }
  }
}

} // namespace troupe
