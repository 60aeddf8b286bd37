// Blocked and packed as in Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008), with a kernel for each width of vector registers, picked at run time.
#include "troupe/devices/cpu/double_gemm.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace troupe {
namespace {

// A block of a, which stays in the L2 cache, and a panel of b, which stays in the L1 cache.
constexpr int64_t depth = 256, block_rows = 96, block_columns = 960;
constexpr int64_t largest_tile = 8 * 24;

/// A microkernel. The tile of c has `rows` x `columns` and stays in registers. `run` multiplies a
/// packed strip of a (rows x depth) by one of b (depth x columns), and writes the tile.
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
    lanes b_vectors[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      b_vectors[v] = reinterpret_cast<const lanes*>(b)[v];
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[row][v] += a[row] * b_vectors[v];
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

// Packs `count` rows of `matrix`, k elements each, into strips of `width` rows, column by column.
// Missing rows of the last strip are zero. With rows and columns exchanged, packs columns.
void pack(strided_matrix matrix, int64_t count, int64_t k, int64_t width, double* packed) {
  for (int64_t first = 0; first < count; first += width) {
    auto rows = std::min(width, count - first);
    const auto* source = matrix.data + first * matrix.row_stride;
    if (matrix.column_stride == 1 && rows == width) { // reads along memory
      for (int64_t row = 0; row < width; ++row)
        for (int64_t p = 0; p < k; ++p)
          packed[p * width + row] = source[row * matrix.row_stride + p];
      packed += k * width;
      continue;
    }
    for (int64_t p = 0; p < k; ++p, packed += width) {
      for (int64_t row = 0; row < rows; ++row)
        packed[row] = source[row * matrix.row_stride + p * matrix.column_stride];
      std::fill(packed + rows, packed + width, 0.0);
    }
  }
}

int64_t round_up(int64_t x, int64_t multiple) { return (x + multiple - 1) / multiple * multiple; }

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
  auto block_depth = std::min(k, depth);
  aligned_doubles packed_a{round_up(std::min(m, block_rows), rows) * block_depth};
  aligned_doubles packed_b{round_up(std::min(n, block_columns), columns) * block_depth};
  alignas(64) double tile[largest_tile];
  for (int64_t j = 0; j < n; j += block_columns) {
    auto panel_columns = std::min(block_columns, n - j);
    for (int64_t p = 0; p < k; p += depth) {
      block_depth = std::min(depth, k - p);
      const auto* b_panel = b.data + p * b.row_stride + j * b.column_stride;
      pack({b_panel, b.column_stride, b.row_stride}, panel_columns, block_depth, columns,
           packed_b.data());
      for (int64_t i = 0; i < m; i += block_rows) {
        if (stop && stop->is_due())
          return;
        auto block_height = std::min(block_rows, m - i);
        const auto* a_block = a.data + i * a.row_stride + p * a.column_stride;
        pack({a_block, a.row_stride, a.column_stride}, block_height, block_depth, rows,
             packed_a.data());
        for (int64_t column = 0; column < panel_columns; column += columns)
          for (int64_t row = 0; row < block_height; row += rows) {
            run(block_depth, packed_a.data() + row * block_depth,
                packed_b.data() + column * block_depth, tile);
            store(tile, columns, c + (i + row) * c_stride + j + column, c_stride,
                  std::min(rows, block_height - row), std::min(columns, panel_columns - column),
                  p > 0);
          }
      }
    }
  }
}

} // namespace troupe
