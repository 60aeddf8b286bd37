// Shared by the GPU kernels for linear algebra. Libraries use column-major matrices, tensors are
// row-major: a tensor passed unchanged is its transpose to the library, which is often sufficient.
#pragma once
#include "troupe/devices/gpu/core/solver.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

using troupe::gpu::matrix_stack;

/// Complex matrices stay on processors.
inline constexpr type_list<float, double> solved_types;

template <class T>
troupe::gpu::solver::call call_for(kernel_context& at) {
  return {troupe::gpu::gpu_of(at.device()), at.memory(), dtype_of<T>};
}

template <class T>
result<tensor> room_for(kernel_context& at, int64_t elements) {
  return tensor::make(dtype_of<T>, shape{elements}, at.memory());
}

struct locate_body {
  char* first;
  int64_t bytes;
  void** to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = first + i * bytes; }
};

/// A stack, and the addresses of its matrices where a batched launch is faster.
struct located_stack {
  matrix_stack of;
  tensor places;
};

template <class T>
result<located_stack> locate(kernel_context& at, void* data, int64_t rows, int64_t columns,
                             int64_t count, bool batched) {
  located_stack located{{data, rows, columns, count}, {}};
  if (!batched)
    return located;
  TROUPE_ASSIGN(located.places, tensor::make(dtype::i64, shape{count}, at.memory()));
  auto** to = static_cast<void**>(located.places.raw());
  TROUPE_TRY(for_each(
      at, count,
      locate_body{static_cast<char*>(data), rows * columns * static_cast<int64_t>(sizeof(T)), to}));
  located.of.addresses = to;
  return located;
}

/// Writes the first `columns` columns of each matrix of a stack in row-major order; `room` is the
/// number of columns in memory.
inline void by_rows(kernel_context& at, const tensor& from, int64_t count, int64_t rows,
                    int64_t columns, int64_t room, const tensor& to) {
  strided_iterator places;
  places.push_back(count, {rows * room, 0});
  places.push_back(rows, {1, 0});
  places.push_back(columns, {rows, 0});
  copy_strided(at, places, {from}, to);
}

/// Converts row-major matrices to column-major.
inline result<tensor> by_columns(kernel_context& at, const tensor& from, int64_t count,
                                 int64_t rows, int64_t columns) {
  TROUPE_ASSIGN(auto column_major,
                tensor::make(from.type(), shape{count * rows * columns}, at.memory()));
  // The columns of its transpose, read as if it were column-major.
  by_rows(at, from, count, columns, rows, rows, column_major);
  return column_major;
}

template <class T>
struct identity_body {
  int64_t rows, columns;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = i % (rows * columns);
    to[i] = place / columns == place % columns ? T(1) : T(0);
  }
};

/// Writes identity matrices.
template <class T>
status fill_identity(kernel_context& at, T* to, int64_t count, int64_t rows, int64_t columns) {
  return for_each(at, count * rows * columns, identity_body<T>{rows, columns, to});
}

struct both_true {
  TROUPE_DEVICE static int step(int a, int b) { return a & b; }
};

template <class T>
struct tame_body {
  int64_t rows, columns;
  bool triangle;
  T* matrices;
  int* finite;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& group) const {
    auto* matrix = matrices + i * rows * columns;
    int is_finite_part = 1;
    for (int64_t k = group.rank(); k < rows * columns; k += group.size())
      if (!triangle || k % columns <= k / columns)
        is_finite_part &= static_cast<int>(matrix[k] - matrix[k] == 0);
    is_finite_part = group.template all<both_true>(is_finite_part);
    if (is_finite_part == 0)
      for (int64_t k = group.rank(); k < rows * columns; k += group.size())
        matrix[k] = 0;
    if (group.rank() == 0)
      finite[i] = is_finite_part;
  }
};

/// Sets matrices that are not finite to zero, since iterations over them may not end, and records
/// which they are. `triangle`: only the elements on and below the diagonal of a row-major matrix
/// are checked.
template <class T>
status tame(kernel_context& at, T* matrices, int64_t count, int64_t rows, int64_t columns,
            bool triangle, int* finite) {
  return for_each_group(at, count, rows * columns,
                        tame_body<T>{rows, columns, triangle, matrices, finite});
}

template <class T>
struct spoil_body {
  int64_t each;
  const int *finite, *info;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto matrix = i / each;
    if (finite[matrix] == 0 || info[matrix] != 0)
      to[i] = std::numeric_limits<T>::quiet_NaN();
  }
};

/// Writes NaN over the results, `each` elements per matrix, of matrices that were not finite, or
/// for which an iteration did not converge.
template <class T>
status spoil(kernel_context& at, int64_t count, int64_t elements, const int* finite,
             const int* info, T* to) {
  return for_each(at, count * elements, spoil_body<T>{elements, finite, info, to});
}

/// The results of getrf for matrices passed as their transposes. Determinants are the same;
/// solutions are the same after another transposition.
struct factors {
  tensor lu, pivots, info;
  located_stack stack;
};

template <class T>
result<factors> factor(kernel_context& at, const tensor& from, const matrix_batch& batch) {
  factors factored;
  TROUPE_ASSIGN(auto* solver, solver_of(at));
  TROUPE_ASSIGN(factored.lu, room_for<T>(at, batch.count * batch.size()));
  TROUPE_ASSIGN(factored.pivots, room_for<int32_t>(at, batch.count * batch.rows));
  TROUPE_ASSIGN(factored.info, room_for<int32_t>(at, batch.count));
  copy_bytes(at, from, factored.lu);
  auto batched = troupe::gpu::solver::better_batched(batch.rows, batch.count);
  TROUPE_ASSIGN(factored.stack,
                locate<T>(at, factored.lu.raw(), batch.rows, batch.columns, batch.count, batched));
  TROUPE_TRY(solver->getrf(call_for<T>(at), factored.stack.of, factored.pivots.data<int32_t>(),
                           factored.info.data<int32_t>()));
  return factored;
}

template <class T>
struct refuse_body {
  const T* lu;
  int64_t n;
  device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = i % n, matrix = i / n;
    auto pivot = lu[matrix * n * n + row * (n + 1)];
    if (!(pivot > 0 || pivot < 0)) // a NaN is no pivot
      wrong.add(matrix, -1);
  }
};

/// Reports matrices that have no inverse.
template <class T>
status refuse_singular(kernel_context& at, const factors& factored) {
  auto n = factored.stack.of.rows;
  return for_each(at, factored.stack.of.count * n,
                  refuse_body<T>{static_cast<const T*>(factored.stack.of.data),
                                 n,
                                 {at, "matrix # is not invertible"}});
}

/// b = a^-1 b for the factored matrices, where b is column-major; `adjoint` has the op's meaning.
template <class T>
status solve_in_place(kernel_context& at, const factors& factored, bool adjoint, T* b,
                      int64_t columns) {
  TROUPE_ASSIGN(auto* solver, solver_of(at));
  const auto& a = factored.stack.of;
  TROUPE_ASSIGN(auto right, locate<T>(at, b, a.rows, columns, a.count, a.addresses != nullptr));
  return solver->getrs(call_for<T>(at), !adjoint, a, factored.pivots.data<int32_t>(), right.of,
                       factored.info.data<int32_t>());
}

struct flawed_body {
  const int* info;
  device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (info[i] != 0)
      wrong.add(i, -1);
  }
};

/// Singular values and vectors of row-major matrices; `u` and `v` may be null. No extent may be 0.
template <class T>
status find_singular_values(kernel_context& at, const tensor& from, const matrix_batch& batch,
                            bool full, T* s, const tensor* u, const tensor* v) {
  TROUPE_ASSIGN(auto* solver, solver_of(at));
  auto turned =
      batch.rows <= batch.columns; // in the library's view a' = v s u', so u and v are swapped
  matrix_stack a{nullptr, std::max(batch.rows, batch.columns), std::min(batch.rows, batch.columns),
                 batch.count};
  tensor copy;
  if (turned) {
    TROUPE_ASSIGN(copy, room_for<T>(at, batch.count * batch.size()));
    copy_bytes(at, from, copy);
  } else {
    TROUPE_ASSIGN(copy, by_columns(at, from, batch.count, batch.rows, batch.columns));
  }
  a.data = copy.raw();
  TROUPE_ASSIGN(auto finite, room_for<int32_t>(at, batch.count));
  TROUPE_ASSIGN(auto info, room_for<int32_t>(at, batch.count));
  auto *is_finite = finite.template data<int32_t>(), *converged = info.template data<int32_t>();
  TROUPE_TRY(tame(at, copy.template data<T>(), batch.count, a.rows, a.columns, false, is_finite));
  const auto *left_vectors = turned ? v : u, *right_vectors = turned ? u : v;
  auto columns = full ? a.rows : a.columns;
  if (troupe::gpu::solver::fit_jacobi(a)) {
    TROUPE_ASSIGN(auto all_left, room_for<T>(at, batch.count * a.rows * a.rows));
    TROUPE_ASSIGN(auto all_right, room_for<T>(at, batch.count * a.columns * a.columns));
    TROUPE_TRY(solver->gesvdj(call_for<T>(at), left_vectors != nullptr, a, s, all_left.raw(),
                              all_right.raw(), converged));
    if (left_vectors) {
      by_rows(at, all_left, batch.count, a.rows, columns, a.rows, *left_vectors);
      by_rows(at, all_right, batch.count, a.columns, a.columns, a.columns, *right_vectors);
    }
  } else if (left_vectors) {
    TROUPE_ASSIGN(auto all_left, room_for<T>(at, batch.count * a.rows * columns));
    TROUPE_TRY(solver->gesvd(call_for<T>(at),
                             full ? troupe::gpu::singular_vectors::all
                                  : troupe::gpu::singular_vectors::thin,
                             a, s, all_left.raw(), right_vectors->raw(), converged));
    by_rows(at, all_left, batch.count, a.rows, columns, columns, *left_vectors);
  } else {
    TROUPE_TRY(solver->gesvd(call_for<T>(at), troupe::gpu::singular_vectors::none, a, s, nullptr,
                             nullptr, converged));
  }
  TROUPE_TRY(spoil(at, batch.count, a.columns, is_finite, converged, s));
  if (!left_vectors)
    return {};
  TROUPE_TRY(
      spoil(at, batch.count, a.rows * columns, is_finite, converged, left_vectors->data<T>()));
  return spoil(at, batch.count, a.columns * a.columns, is_finite, converged,
               right_vectors->data<T>());
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
