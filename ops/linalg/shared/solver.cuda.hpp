// What the kernels of GPUs for linear algebra share. Libraries want column-major matrices, ours are
// row-major: who hands one over as it lies hands over its transpose, which is often good enough.
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

/// A stack, and the addresses of its matrices where a launch for all of them is better.
struct located_stack {
  matrix_stack of;
  tensor places;
};

template <class T>
result<located_stack> locate(kernel_context& at, void* data, int64_t rows, int64_t columns,
                             int64_t count, bool batched) {
  located_stack made{{data, rows, columns, count}, {}};
  if (!batched)
    return made;
  TROUPE_ASSIGN(made.places, tensor::make(dtype::i64, shape{count}, at.memory()));
  auto** to = static_cast<void**>(made.places.raw());
  TROUPE_TRY(for_each(
      at, count,
      locate_body{static_cast<char*>(data), rows * columns * static_cast<int64_t>(sizeof(T)), to}));
  made.of.places = to;
  return made;
}

/// Writes the first `columns` columns of each matrix of a stack row by row; `room` is how many
/// columns there are.
inline void by_rows(kernel_context& at, const tensor& from, int64_t count, int64_t rows,
                    int64_t columns, int64_t room, const tensor& to) {
  strided_iterator places;
  places.push_back(count, {rows * room, 0});
  places.push_back(rows, {1, 0});
  places.push_back(columns, {rows, 0});
  copy_strided(at, places, {from}, to);
}

/// Row-major matrices as column-major ones.
inline result<tensor> by_columns(kernel_context& at, const tensor& from, int64_t count,
                                 int64_t rows, int64_t columns) {
  TROUPE_ASSIGN(auto made, tensor::make(from.type(), shape{count * rows * columns}, at.memory()));
  // The columns of its transpose, as if that were column-major.
  by_rows(at, from, count, columns, rows, rows, made);
  return made;
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

/// Ones on the diagonals, and zeros elsewhere.
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
  TROUPE_DEVICE void operator()(int64_t i, const Group& by) const {
    auto* own = matrices + i * rows * columns;
    int mine = 1;
    for (int64_t k = by.rank(); k < rows * columns; k += by.size())
      if (!triangle || k % columns <= k / columns)
        mine &= static_cast<int>(own[k] - own[k] == 0);
    mine = by.template all<both_true>(mine);
    if (mine == 0)
      for (int64_t k = by.rank(); k < rows * columns; k += by.size())
        own[k] = 0;
    if (by.rank() == 0)
      finite[i] = mine;
  }
};

/// Makes matrices zero that are not finite, since iterations over them may not end, and notes that
/// down. `triangle`: only what is on or below the diagonal of a row-major matrix matters.
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

/// Writes NaN over the results, `each` elements for a matrix, of those that were not finite, or for
/// which an iteration did not converge.
template <class T>
status spoil(kernel_context& at, int64_t count, int64_t each, const int* finite, const int* info,
             T* to) {
  return for_each(at, count * each, spoil_body<T>{each, finite, info, to});
}

/// What getrf makes of matrices, taken as their transposes: the same determinants, and the same
/// solutions if they are transposed once more.
struct factors {
  tensor lu, pivots, info;
  located_stack stack;
};

template <class T>
result<factors> factor(kernel_context& at, const tensor& from, const matrix_batch& of) {
  factors made;
  TROUPE_ASSIGN(auto* by, solver_of(at));
  TROUPE_ASSIGN(made.lu, room_for<T>(at, of.count * of.size()));
  TROUPE_ASSIGN(made.pivots, room_for<int32_t>(at, of.count * of.rows));
  TROUPE_ASSIGN(made.info, room_for<int32_t>(at, of.count));
  copy_bytes(at, from, made.lu);
  auto batched = troupe::gpu::solver::better_batched(of.rows, of.count);
  TROUPE_ASSIGN(made.stack, locate<T>(at, made.lu.raw(), of.rows, of.columns, of.count, batched));
  TROUPE_TRY(by->getrf(call_for<T>(at), made.stack.of, made.pivots.data<int32_t>(),
                       made.info.data<int32_t>()));
  return made;
}

template <class T>
struct refuse_body {
  const T* lu;
  int64_t n;
  device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = i % n, matrix = i / n;
    auto pivot = lu[matrix * n * n + row * (n + 1)];
    if (!(pivot > 0 || pivot < 0)) // NaN is no pivot either
      wrong.add(matrix, -1);
  }
};

/// Complains about matrices that have no inverse.
template <class T>
status refuse_singular(kernel_context& at, const factors& of) {
  auto n = of.stack.of.rows;
  return for_each(at, of.stack.of.count * n,
                  refuse_body<T>{static_cast<const T*>(of.stack.of.data),
                                 n,
                                 {at, "matrix # is not invertible"}});
}

/// b = a^-1 b for what was factored, where b is column-major; `adjoint` as the op says it.
template <class T>
status solve_in_place(kernel_context& at, const factors& of, bool adjoint, T* b, int64_t columns) {
  TROUPE_ASSIGN(auto* by, solver_of(at));
  const auto& a = of.stack.of;
  TROUPE_ASSIGN(auto right, locate<T>(at, b, a.rows, columns, a.count, a.places != nullptr));
  return by->getrs(call_for<T>(at), !adjoint, a, of.pivots.data<int32_t>(), right.of,
                   of.info.data<int32_t>());
}

struct flawed_body {
  const int* info;
  device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (info[i] != 0)
      wrong.add(i, -1);
  }
};

/// Singular values and vectors of row-major matrices; `u` and `v` may be null. Nothing is empty.
template <class T>
status find_singular_values(kernel_context& at, const tensor& from, const matrix_batch& of,
                            bool full, T* s, const tensor* u, const tensor* v) {
  TROUPE_ASSIGN(auto* by, solver_of(at));
  auto turned = of.rows <= of.columns; // as it lies: a' = v s u', so u and v change places
  matrix_stack a{nullptr, std::max(of.rows, of.columns), std::min(of.rows, of.columns), of.count};
  tensor copy;
  if (turned) {
    TROUPE_ASSIGN(copy, room_for<T>(at, of.count * of.size()));
    copy_bytes(at, from, copy);
  } else {
    TROUPE_ASSIGN(copy, by_columns(at, from, of.count, of.rows, of.columns));
  }
  a.data = copy.raw();
  TROUPE_ASSIGN(auto finite, room_for<int32_t>(at, of.count));
  TROUPE_ASSIGN(auto info, room_for<int32_t>(at, of.count));
  auto *is_finite = finite.template data<int32_t>(), *converged = info.template data<int32_t>();
  TROUPE_TRY(tame(at, copy.template data<T>(), of.count, a.rows, a.columns, false, is_finite));
  const auto *left = turned ? v : u, *right = turned ? u : v;
  auto columns = full ? a.rows : a.columns;
  if (troupe::gpu::solver::fit_jacobi(a)) {
    TROUPE_ASSIGN(auto all_left, room_for<T>(at, of.count * a.rows * a.rows));
    TROUPE_ASSIGN(auto all_right, room_for<T>(at, of.count * a.columns * a.columns));
    TROUPE_TRY(by->gesvdj(call_for<T>(at), left != nullptr, a, s, all_left.raw(), all_right.raw(),
                          converged));
    if (left) {
      by_rows(at, all_left, of.count, a.rows, columns, a.rows, *left);
      by_rows(at, all_right, of.count, a.columns, a.columns, a.columns, *right);
    }
  } else if (left) {
    TROUPE_ASSIGN(auto all_left, room_for<T>(at, of.count * a.rows * columns));
    TROUPE_TRY(
        by->gesvd(call_for<T>(at),
                  full ? troupe::gpu::singular_vectors::all : troupe::gpu::singular_vectors::thin,
                  a, s, all_left.raw(), right->raw(), converged));
    by_rows(at, all_left, of.count, a.rows, columns, columns, *left);
  } else {
    TROUPE_TRY(by->gesvd(call_for<T>(at), troupe::gpu::singular_vectors::none, a, s, nullptr,
                         nullptr, converged));
  }
  TROUPE_TRY(spoil(at, of.count, a.columns, is_finite, converged, s));
  if (!left)
    return {};
  TROUPE_TRY(spoil(at, of.count, a.rows * columns, is_finite, converged, left->data<T>()));
  return spoil(at, of.count, a.columns * a.columns, is_finite, converged, right->data<T>());
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
