// Kernels that do something with each matrix of a batch.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <mutex>

namespace troupe::ops {

/// How many matrices a tensor holds, and their extents.
struct matrix_batch {
  int64_t count, rows, columns;
  int64_t size() const { return rows * columns; }
};

inline result<matrix_batch> matrices_of(const tensor& from) {
  const auto& dims = from.dims();
  if (dims.rank() < 2)
    return invalid("takes matrices, got shape ", dims);
  matrix_batch found{1, dims[dims.rank() - 2], dims[dims.rank() - 1]};
  for (int axis = 0; axis + 2 < dims.rank(); ++axis)
    found.count *= dims[axis];
  return found;
}

inline result<matrix_batch> square_matrices_of(const tensor& from) {
  TROUPE_ASSIGN(auto found, matrices_of(from));
  if (found.rows != found.columns)
    return invalid("matrices must be square, got shape ", from.dims());
  return found;
}

/// The shape without its last two axes, and these instead. Fails for too many elements.
inline result<shape> with_matrix(const shape& matrices, std::initializer_list<int64_t> last) {
  std::vector<int64_t> extents{matrices.begin(), matrices.end() - 2};
  extents.insert(extents.end(), last);
  return shape::make(extents);
}

/// The right sides that belong to the matrices, which may have more rows than columns.
inline result<matrix_batch> right_sides_of(const tensor& matrices, const tensor& rhs) {
  TROUPE_ASSIGN(auto of, matrices_of(matrices));
  TROUPE_ASSIGN(auto found, matrices_of(rhs));
  TROUPE_ASSIGN(auto wanted, with_matrix(matrices.dims(), {of.rows, found.columns}));
  if (!(wanted == rhs.dims()))
    return invalid("rhs must have as many rows and batches as matrix, got shapes ", rhs.dims(),
                   " and ", matrices.dims());
  return found;
}

/// Calls body(i) for the numbers of all matrices, on several threads where that helps; `work` is an
/// estimate of the multiplications for one matrix. Returns the failure of the first one that fails.
/// One matrix is done without a look at the stop signal.
template <class Body>
status for_each_matrix(kernel_context& at, int64_t count, double work, Body body) {
  std::mutex mutex;
  status outcome;
  auto first = count;
  auto attempt = [&](int64_t i) -> status {
    try {
      return body(i);
    } catch (const std::bad_alloc&) {
      return failure(error_kind::resource_exhausted, "out of memory for what the kernel needs");
    }
  };
  at.parallel_for(count, 200 + work, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end && !at.stopped(); ++i)
      if (auto done = attempt(i); !done) {
        std::lock_guard guard{mutex};
        if (i < first) {
          first = i;
          outcome = std::move(done);
        }
      }
  });
  return outcome;
}

inline double cube(int64_t n) {
  auto x = static_cast<double>(n);
  return x * x * x;
}

/// A table of `Kernel::run<T>` for the types that decompositions are computed in.
template <class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels_of(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel::template run<Ts>}...};
}

namespace types {
inline constexpr auto fields = type_list<float, double>{} + complex;
}

} // namespace troupe::ops
