#include "troupe/devices/cpu/gemm.hpp"

#include "troupe/devices/cpu/double_gemm.hpp"
#include "troupe/devices/cpu/one_openmp_thread.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <oneapi/dnnl/dnnl.h>

#include <Eigen/Core>

namespace troupe {
namespace {

/// One block of a product: the operands and the strides between their stored rows.
template <class T>
struct product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const T* a;
  int64_t a_stride;
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride;
  bool add = false; // adds the product to c

  product rows(int64_t begin, int64_t end) const {
    auto part = *this;
    part.m = end - begin;
    part.a += transpose_a ? begin : begin * a_stride;
    part.c += begin * c_stride;
    return part;
  }
  product columns(int64_t begin, int64_t end) const {
    auto part = *this;
    part.n = end - begin;
    part.b += transpose_b ? begin * b_stride : begin;
    part.c += begin;
    return part;
  }
  product depth(int64_t begin, int64_t end) const {
    auto part = *this;
    part.k = end - begin;
    part.a += transpose_a ? begin * a_stride : begin;
    part.b += transpose_b ? begin : begin * b_stride;
    part.add = add || begin > 0;
    return part;
  }
};

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using operand = Eigen::Map<const matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using target = Eigen::Map<matrix<T>, 0, Eigen::OuterStride<>>;

// Below this many multiplications oneDNN's 0.2 us per call costs more than a plain loop.
constexpr int64_t tiny = 1'000;

template <class T>
void multiply_by_eigen(const product<T>& operands) {
  using stride = Eigen::OuterStride<>;
  target<T> c{operands.c, operands.m, operands.n, stride{operands.c_stride}};
  operand<T> a{operands.a, operands.transpose_a ? operands.k : operands.m,
               operands.transpose_a ? operands.m : operands.k, stride{operands.a_stride}};
  operand<T> b{operands.b, operands.transpose_b ? operands.n : operands.k,
               operands.transpose_b ? operands.k : operands.n, stride{operands.b_stride}};
  if (operands.transpose_a && operands.transpose_b)
    c.noalias() = a.transpose().lazyProduct(b.transpose());
  else if (operands.transpose_a)
    c.noalias() = a.transpose().lazyProduct(b);
  else if (operands.transpose_b)
    c.noalias() = a.lazyProduct(b.transpose());
  else
    c.noalias() = a.lazyProduct(b);
}

template <class T>
status no_memory(const product<T>& operands) {
  return failure(error_kind::resource_exhausted, "no memory for a product of ", operands.m, 'x',
                 operands.k, " and ", operands.k, 'x', operands.n);
}

// c (m x n) = a (m x k) * b (k x n), reading b along its rows once for each row of c.
void add_up_rows(product<double> operands) {
  for (int64_t i = 0; i < operands.m; ++i, operands.c += operands.c_stride) {
    std::fill_n(operands.c, operands.n, 0.0);
    const auto* row = operands.b;
    for (int64_t p = 0; p < operands.k; ++p, row += operands.b_stride) {
      auto factor = operands.transpose_a ? operands.a[p * operands.a_stride + i]
                                         : operands.a[i * operands.a_stride + p];
#pragma GCC ivdep
      for (int64_t j = 0; j < operands.n; ++j)
        operands.c[j] += factor * row[j];
    }
  }
}

// Multiplies by a vector, or a matrix of few rows or columns, for which packing costs more than
// multiplying. Returns false, without multiplying, for other products.
bool multiply_skinny(product<double> operands) {
  if (operands.m == 1 && operands.transpose_a) { // a column vector in memory equals a row vector
    operands.transpose_a = operands.a_stride != 1;
    operands.a_stride = operands.transpose_a ? operands.a_stride : operands.k;
  }
  if (operands.n == 1 && !operands.transpose_b && operands.b_stride == 1) {
    operands.transpose_b = true;
    operands.b_stride = operands.k;
  }
  if (operands.m < 4 && !operands.transpose_b) {
    add_up_rows(operands);
  } else if (operands.n == 1 && operands.transpose_a && operands.c_stride == 1) {
    add_up_rows({false, false, 1, operands.m, operands.k, operands.b, operands.b_stride, operands.a,
                 operands.a_stride, operands.c, operands.m});
  } else if (!operands.transpose_a && operands.transpose_b && (operands.m < 4 || operands.n < 4)) {
    multiply_by_eigen(operands); // contiguous rows by contiguous columns
  } else {
    return false;
  }
  return true;
}

status multiply(const product<double>& operands, stop_signal* stop) {
  if (operands.m * operands.n * operands.k < tiny) {
    multiply_by_eigen(operands);
    return {};
  }
  if (multiply_skinny(operands))
    return {};
  auto view = [](const double* data, bool transposed, int64_t stride) {
    return transposed ? strided_matrix{data, 1, stride} : strided_matrix{data, stride, 1};
  };
  try {
    multiply_doubles(operands.m, operands.n, operands.k,
                     view(operands.a, operands.transpose_a, operands.a_stride),
                     view(operands.b, operands.transpose_b, operands.b_stride), operands.c,
                     operands.c_stride, stop);
  } catch (const std::bad_alloc&) {
    return no_memory(operands);
  }
  return {};
}

// A single call of oneDNN cannot be stopped.
status multiply(const product<float>& operands, stop_signal*) {
  if (operands.m * operands.n * operands.k < tiny && !operands.add) {
    multiply_by_eigen(operands);
    return {};
  }
  one_openmp_thread guard;
  auto outcome =
      dnnl_sgemm(operands.transpose_a ? 'T' : 'N', operands.transpose_b ? 'T' : 'N', operands.m,
                 operands.n, operands.k, 1.0f, operands.a, operands.a_stride, operands.b,
                 operands.b_stride, operands.add ? 1.0f : 0.0f, operands.c, operands.c_stride);
  if (outcome == dnnl_success)
    return {};
  if (outcome == dnnl_out_of_memory)
    return no_memory(operands);
  return failure(error_kind::internal, "oneDNN's sgemm failed with status ",
                 static_cast<int>(outcome));
}

/// Returns whether the product takes more than a few milliseconds. With few rows or columns, the
/// time is that of reading memory.
template <class T>
bool is_long(const product<T>& operands) {
  auto m = std::max<int64_t>(operands.m, 32), n = std::max<int64_t>(operands.n, 32);
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(operands.k) > 5e8;
}

// A block is multiplied without polling the stop signal, which takes some 20 ms. Slices along k of
// oneDNN's packing depth cost nothing. Blocks that do not span all rows and columns cost up to a
// tenth, because the operands are packed again for each block. With few rows or columns, nothing is
// packed, and reading memory takes the time.
constexpr int64_t slice_depth = 384, block_area = 5'000'000, max_columns = 4096;
constexpr int64_t min_packed_extent = 16, block_memory = 16'000'000;

// Divides an extent into blocks of about equal length, and returns that length.
int64_t even_blocks(int64_t extent, int64_t max_length) {
  auto count = (extent + max_length - 1) / max_length;
  auto length = (extent + count - 1) / count;
  return std::min((length + 47) / 48 * 48, extent);
}

/// Multiplies part of a product. The slices determine the rounding of sums, and depend on the whole
/// product only, not on the part that a thread gets.
template <class T>
status multiply_in_blocks(const product<T>& part, const product<T>& problem, stop_signal* stop) {
  auto depth = part.k, columns = part.n, rows = part.m;
  if (std::min(problem.m, problem.n) < min_packed_extent) {
    auto max_lines = std::max(min_packed_extent, block_memory / depth);
    rows = even_blocks(rows, max_lines);
    columns = even_blocks(columns, max_lines);
    if (sizeof(T) == sizeof(float) && std::max(problem.m, problem.n) < min_packed_extent)
      depth = block_memory / min_packed_extent;
  } else if (sizeof(T) == sizeof(float)) { // multiply_doubles() polls the signal itself
    depth = slice_depth;
    columns = even_blocks(columns, max_columns);
    rows = even_blocks(rows, block_area / columns);
  }
  for (int64_t i = 0; i < part.m; i += rows) {
    auto band = part.rows(i, std::min(i + rows, part.m));
    for (int64_t j = 0; j < part.n; j += columns) {
      auto block = band.columns(j, std::min(j + columns, part.n));
      for (int64_t p = 0, end = 0; p < part.k; p = end) {
        if (stop && stop->is_due())
          return {};
        end = part.k - p < 2 * depth ? part.k : p + depth;
        TROUPE_TRY(multiply(block.depth(p, end), stop));
      }
    }
  }
  return {};
}

template <class T>
result<product<T>> check(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                         const T* a, const T* b, T* c) {
  int64_t elements = 0;
  // The extents of oneDNN and Eigen have 64 bits, too.
  static_assert(sizeof(dnnl_dim_t) == 8 && sizeof(Eigen::Index) == 8);
  if (m < 0 || n < 0 || k < 0 || __builtin_mul_overflow(m, n, &elements) ||
      __builtin_mul_overflow(m, k, &elements) || __builtin_mul_overflow(k, n, &elements))
    return invalid("cannot multiply ", m, "x", k, " by ", k, "x", n);
  return product<T>{transpose_a,
                    transpose_b,
                    m,
                    n,
                    k,
                    a,
                    std::max<int64_t>(1, transpose_a ? m : k),
                    b,
                    std::max<int64_t>(1, transpose_b ? k : n),
                    c,
                    std::max<int64_t>(1, n)};
}

/// Handles empty products without multiplying. Returns whether the product was empty.
template <class T>
bool handle_empty(const product<T>& operands) {
  if (operands.m == 0 || operands.n == 0)
    return true;
  if (operands.k == 0)
    std::fill_n(operands.c, operands.m * operands.n, T{0});
  return operands.k == 0;
}

} // namespace

template <class T>
status gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
            const T* b, T* c) {
  TROUPE_ASSIGN(auto problem, check(transpose_a, transpose_b, m, n, k, a, b, c));
  if (handle_empty(problem))
    return {};
  return multiply(problem, nullptr);
}

template <class T>
status gemm(device& processor, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
            const T* a, const T* b, T* c, stop_signal* stop) {
  TROUPE_ASSIGN(auto problem, check(transpose_a, transpose_b, m, n, k, a, b, c));
  if (handle_empty(problem))
    return {};
  // Strips are multiples of register tiles. Every strip reads the whole other operand, so few
  // strips are better.
  constexpr double nanoseconds_per_multiplication = std::is_same_v<T, float> ? 0.01 : 0.03;
  auto by_rows = m >= n;
  auto extent = by_rows ? m : n;
  auto strip = by_rows ? int64_t{48} : int64_t{64};
  auto cost = nanoseconds_per_multiplication * static_cast<double>(by_rows ? n : m) *
              static_cast<double>(k) * static_cast<double>(strip);
  auto in_blocks = is_long(problem);
  std::mutex mutex;
  status outcome;
  auto multiply_part = [&](int64_t begin, int64_t end) {
    end = std::min(end, extent);
    auto part = by_rows ? problem.rows(begin, end) : problem.columns(begin, end);
    auto part_outcome = in_blocks ? multiply_in_blocks(part, problem, stop) : multiply(part, stop);
    if (part_outcome.ok())
      return;
    std::lock_guard guard{mutex};
    outcome = std::move(part_outcome);
  };
  if (!processor.deterministic()) {
    processor.parallel_for((extent + strip - 1) / strip, cost, [&](int64_t begin, int64_t end) {
      multiply_part(begin * strip, end * strip);
    });
    return outcome;
  }
  // A library's summation order may depend on the extents of a call. These extents do not depend
  // on the number of threads.
  constexpr int64_t strips_per_part = 4;
  auto part_extent = strip * strips_per_part;
  processor.parallel_for((extent + part_extent - 1) / part_extent, cost * strips_per_part,
                         [&](int64_t begin, int64_t end) {
                           for (auto i = begin; i < end; ++i)
                             multiply_part(i * part_extent, (i + 1) * part_extent);
                         });
  return outcome;
}

template status gemm(bool, bool, int64_t, int64_t, int64_t, const float*, const float*, float*);
template status gemm(bool, bool, int64_t, int64_t, int64_t, const double*, const double*, double*);
template status gemm(device&, bool, bool, int64_t, int64_t, int64_t, const float*, const float*,
                     float*, stop_signal*);
template status gemm(device&, bool, bool, int64_t, int64_t, int64_t, const double*, const double*,
                     double*, stop_signal*);

} // namespace troupe
