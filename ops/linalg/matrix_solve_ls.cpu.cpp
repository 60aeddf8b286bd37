#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/dense_algebra.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

struct solution {
  template <class T>
  static status run(kernel_context& at) {
    const auto &a = at.input(0), &b = at.input(1), &l2 = at.input(2);
    TROUPE_ASSIGN(auto of, matrices_of(a));
    TROUPE_ASSIGN(auto right, matrices_of(b));
    TROUPE_ASSIGN(auto wanted, with_matrix(a.dims(), {of.rows, right.columns}));
    if (!(wanted == b.dims()))
      return invalid("rhs must have as many rows and batches as matrix, got shapes ", b.dims(),
                     " and ", a.dims());
    if (l2.elements() != 1 || !(*l2.data<double>() >= 0))
      return invalid("l2_regularizer must be a scalar and not negative, got shape ", l2.dims());
    TROUPE_ASSIGN(auto dims, with_matrix(a.dims(), {of.columns, right.columns}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    auto* to = out->template data<T>();
    if (of.rows == 0 || out->elements() == 0) {
      std::fill_n(to, out->elements(), T{});
      return {};
    }
    auto fast = at.state<bool>();
    auto regularizer = *l2.data<double>();
    auto work =
        static_cast<double>(of.size()) *
        (static_cast<double>(std::min(of.rows, of.columns)) + static_cast<double>(right.columns)) *
        (fast ? 1 : 20);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      const auto *one = a.data<T>() + i * of.size(), *rhs = b.data<T>() + i * right.size();
      auto* x = to + i * of.columns * right.columns;
      if (!fast)
        solve_least_squares<T>(one, of.rows, of.columns, rhs, x, right.columns);
      else if (!solve_normal_equations<T>(one, of.rows, of.columns, regularizer, rhs, x,
                                          right.columns))
        return invalid("matrix ", i,
                       " has not full rank, or nearly so: try fast=false, or a "
                       "larger l2_regularizer");
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_solve_ls_cpu{
    .op = "MatrixSolveLs",
    .run = kernels_of<solution>(types::fields),
    .prepare = keep_attr<bool, "fast">,
};

} // namespace troupe::ops
