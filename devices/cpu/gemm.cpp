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

/// One block of a product: the operands with the distance between their stored rows.
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
  bool add = false; // to what c holds

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
void multiply_by_eigen(const product<T>& of) {
  using stride = Eigen::OuterStride<>;
  target<T> c{of.c, of.m, of.n, stride{of.c_stride}};
  operand<T> a{of.a, of.transpose_a ? of.k : of.m, of.transpose_a ? of.m : of.k,
               stride{of.a_stride}};
  operand<T> b{of.b, of.transpose_b ? of.n : of.k, of.transpose_b ? of.k : of.n,
               stride{of.b_stride}};
  if (of.transpose_a && of.transpose_b)
    c.noalias() = a.transpose().lazyProduct(b.transpose());
  else if (of.transpose_a)
    c.noalias() = a.transpose().lazyProduct(b);
  else if (of.transpose_b)
    c.noalias() = a.lazyProduct(b.transpose());
  else
    c.noalias() = a.lazyProduct(b);
}

template <class T>
status no_memory(const product<T>& of) {
  return failure(error_kind::resource_exhausted, "no memory for a product of ", of.m, 'x', of.k,
                 " and ", of.k, 'x', of.n);
}

// c (m x n) = a (m x k) * b (k x n), reading b along its rows once for each row of c.
void add_up_rows(product<double> of) {
  for (int64_t i = 0; i < of.m; ++i, of.c += of.c_stride) {
    std::fill_n(of.c, of.n, 0.0);
    const auto* row = of.b;
    for (int64_t p = 0; p < of.k; ++p, row += of.b_stride) {
      auto factor = of.transpose_a ? of.a[p * of.a_stride + i] : of.a[i * of.a_stride + p];
#pragma GCC ivdep
      for (int64_t j = 0; j < of.n; ++j)
        of.c[j] += factor * row[j];
    }
  }
}

// Products with a vector, or nearly so: packing would cost more than multiplying. Says whether this
// was one.
bool multiply_skinny(product<double> of) {
  if (of.m == 1 && of.transpose_a) { // one column lies as one row does
    of.transpose_a = of.a_stride != 1;
    of.a_stride = of.transpose_a ? of.a_stride : of.k;
  }
  if (of.n == 1 && !of.transpose_b && of.b_stride == 1) {
    of.transpose_b = true;
    of.b_stride = of.k;
  }
  if (of.m < 4 && !of.transpose_b) {
    add_up_rows(of);
  } else if (of.n == 1 && of.transpose_a && of.c_stride == 1) {
    add_up_rows({false, false, 1, of.m, of.k, of.b, of.b_stride, of.a, of.a_stride, of.c, of.m});
  } else if (!of.transpose_a && of.transpose_b && (of.m < 4 || of.n < 4)) {
    multiply_by_eigen(of); // of contiguous rows with contiguous columns
  } else {
    return false;
  }
  return true;
}

status multiply(const product<double>& of, stop_signal* stop) {
  if (of.m * of.n * of.k < tiny) {
    multiply_by_eigen(of);
    return {};
  }
  if (multiply_skinny(of))
    return {};
  auto view = [](const double* data, bool transposed, int64_t stride) {
    return transposed ? strided_matrix{data, 1, stride} : strided_matrix{data, stride, 1};
  };
  try {
    multiply_doubles(of.m, of.n, of.k, view(of.a, of.transpose_a, of.a_stride),
                     view(of.b, of.transpose_b, of.b_stride), of.c, of.c_stride, stop);
  } catch (const std::bad_alloc&) {
    return no_memory(of);
  }
  return {};
}

// Alone, it cannot be stopped.
status multiply(const product<float>& of, stop_signal*) {
  if (of.m * of.n * of.k < tiny && !of.add) {
    multiply_by_eigen(of);
    return {};
  }
  one_openmp_thread guard;
  auto outcome =
      dnnl_sgemm(of.transpose_a ? 'T' : 'N', of.transpose_b ? 'T' : 'N', of.m, of.n, of.k, 1.0f,
                 of.a, of.a_stride, of.b, of.b_stride, of.add ? 1.0f : 0.0f, of.c, of.c_stride);
  if (outcome == dnnl_success)
    return {};
  if (outcome == dnnl_out_of_memory)
    return no_memory(of);
  return failure(error_kind::internal, "oneDNN's sgemm failed with status ",
                 static_cast<int>(outcome));
}

/// Says whether the product takes more than a few milliseconds; with few rows or columns, memory is
/// what takes the time.
template <class T>
bool is_long(const product<T>& what) {
  auto m = std::max<int64_t>(what.m, 32), n = std::max<int64_t>(what.n, 32);
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(what.k) > 5e8;
}

// Blocks are multiplied without a look at the stop signal, which takes some 20 ms. A slice along k
// as deep as those that oneDNN packs costs nothing; blocks of less than all rows and columns cost
// up to a tenth, because the operands are packed again for each. Where there are few rows or
// columns, nothing is packed, and reading memory is what takes the time.
constexpr int64_t slice_depth = 384, block_area = 5'000'000, max_columns = 4096;
constexpr int64_t few = 16, block_memory = 16'000'000;

// The length of blocks of about the same size that cover the extent.
int64_t even_blocks(int64_t extent, int64_t longest) {
  auto count = (extent + longest - 1) / longest;
  auto even = (extent + count - 1) / count;
  return std::min((even + 47) / 48 * 48, extent);
}

/// Multiplies part of a product. The slices, which decide how sums are rounded, depend on the whole
/// product, whatever part of it a thread gets.
template <class T>
status multiply_in_blocks(const product<T>& part, const product<T>& whole, stop_signal* stop) {
  auto depth = part.k, columns = part.n, rows = part.m;
  if (std::min(whole.m, whole.n) < few) {
    auto lines = std::max(few, block_memory / depth);
    rows = even_blocks(rows, lines);
    columns = even_blocks(columns, lines);
    if (sizeof(T) == sizeof(float) && std::max(whole.m, whole.n) < few)
      depth = block_memory / few;
  } else if (sizeof(T) == sizeof(float)) { // products of doubles look at the signal themselves
    depth = slice_depth;
    columns = even_blocks(columns, max_columns);
    rows = even_blocks(rows, block_area / columns);
  }
  for (int64_t i = 0; i < part.m; i += rows) {
    auto band = part.rows(i, std::min(i + rows, part.m));
    for (int64_t j = 0; j < part.n; j += columns) {
      auto block = band.columns(j, std::min(j + columns, part.n));
      for (int64_t p = 0, end = 0; p < part.k; p = end) {
        if (stop && stop->due())
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
  // oneDNN's and Eigen's extents are as wide as ours.
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

/// Says whether the result was given without multiplying.
template <class T>
bool trivial(const product<T>& what) {
  if (what.m == 0 || what.n == 0)
    return true;
  if (what.k == 0)
    std::fill_n(what.c, what.m * what.n, T{0});
  return what.k == 0;
}

} // namespace

template <class T>
status gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
            const T* b, T* c) {
  TROUPE_ASSIGN(auto whole, check(transpose_a, transpose_b, m, n, k, a, b, c));
  if (trivial(whole))
    return {};
  return multiply(whole, nullptr);
}

template <class T>
status gemm(device& on, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
            const T* a, const T* b, T* c, stop_signal* stop) {
  TROUPE_ASSIGN(auto whole, check(transpose_a, transpose_b, m, n, k, a, b, c));
  if (trivial(whole))
    return {};
  // Strips of whole register tiles. Every strip reads all of the other operand, so few are better.
  constexpr double nanoseconds_per_multiplication = std::is_same_v<T, float> ? 0.01 : 0.03;
  auto by_rows = m >= n;
  auto extent = by_rows ? m : n;
  auto strip = by_rows ? int64_t{48} : int64_t{64};
  auto cost = nanoseconds_per_multiplication * static_cast<double>(by_rows ? n : m) *
              static_cast<double>(k) * static_cast<double>(strip);
  auto in_blocks = is_long(whole);
  std::mutex mutex;
  status outcome;
  auto multiply_part = [&](int64_t begin, int64_t end) {
    end = std::min(end, extent);
    auto part = by_rows ? whole.rows(begin, end) : whole.columns(begin, end);
    auto done = in_blocks ? multiply_in_blocks(part, whole, stop) : multiply(part, stop);
    if (done.ok())
      return;
    std::lock_guard guard{mutex};
    outcome = std::move(done);
  };
  if (!on.deterministic()) {
    on.parallel_for((extent + strip - 1) / strip, cost,
                    [&](int64_t begin, int64_t end) { multiply_part(begin * strip, end * strip); });
    return outcome;
  }
  // How a library adds up may depend on the extents that it is given: these do not depend on
  // threads.
  constexpr int64_t strips_at_once = 4;
  auto part = strip * strips_at_once;
  on.parallel_for((extent + part - 1) / part, cost * strips_at_once,
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i)
                      multiply_part(i * part, (i + 1) * part);
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
