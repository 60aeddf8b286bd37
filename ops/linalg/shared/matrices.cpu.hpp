// Shared by kernels that work on each matrix of a batch.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <mutex>

namespace troupe::ops {

/// The number of matrices of a tensor, and their extents.
struct matrix_batch {
  int64_t count, rows, columns;
  int64_t size() const { return rows * columns; }
};

inline result<matrix_batch> matrices_of(const tensor& from) {
  const auto& dims = from.dims();
  if (dims.rank() < 2)
    return invalid("takes matrices, got shape ", dims);
  matrix_batch batch{1, dims[dims.rank() - 2], dims[dims.rank() - 1]};
  for (int axis = 0; axis + 2 < dims.rank(); ++axis)
    batch.count *= dims[axis];
  return batch;
}

inline result<matrix_batch> square_matrices_of(const tensor& from) {
  TROUPE_ASSIGN(auto batch, matrices_of(from));
  if (batch.rows != batch.columns)
    return invalid("matrices must be square, got shape ", from.dims());
  return batch;
}

/// The shape with its last two axes replaced by these. Fails for too many elements.
inline result<shape> with_matrix(const shape& matrices, std::initializer_list<int64_t> last) {
  std::vector<int64_t> extents{matrices.begin(), matrices.end() - 2};
  extents.insert(extents.end(), last);
  return shape::make(extents);
}

/// The right-hand sides of the matrices, which may have more rows than columns.
inline result<matrix_batch> right_sides_of(const tensor& matrices, const tensor& rhs) {
  TROUPE_ASSIGN(auto left_batch, matrices_of(matrices));
  TROUPE_ASSIGN(auto rhs_batch, matrices_of(rhs));
  TROUPE_ASSIGN(auto rhs_dims, with_matrix(matrices.dims(), {left_batch.rows, rhs_batch.columns}));
  if (!(rhs_dims == rhs.dims()))
    return invalid("rhs must have as many rows and batches as matrix, got shapes ", rhs.dims(),
                   " and ", matrices.dims());
  return rhs_batch;
}

/// Calls body(i) for the number of each matrix, on several threads where that helps; `work` is the
/// estimated number of multiplications per matrix. Returns the failure of the first matrix that
/// fails. The stop signal is checked between matrices only.
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

/// A table of `Kernel::run<T>` for the element types of decompositions.
template <class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels_of(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel::template run<Ts>}...};
}

namespace types {
inline constexpr auto fields = type_list<float, double>{} + complex;
}

} // namespace troupe::ops
