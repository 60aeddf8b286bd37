#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/least_squares.hpp"

#include <algorithm>

namespace troupe::ops::matrix_solve_ls_cpu {
namespace {

struct solution {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto found, plan_least_squares(at));
    auto [of, right, dims] = found;
    const auto &a = at.input(0), &b = at.input(1), &l2 = at.input(2);
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
    return for_each_matrix(at, of.count, work, [&, of = of, right = right](int64_t i) -> status {
      const auto *one = a.data<T>() + i * of.size(), *rhs = b.data<T>() + i * right.size();
      auto* x = to + i * of.columns * right.columns;
      if (!fast)
        solve_least_squares<T>(one, of.rows, of.columns, rhs, x, right.columns);
      else if (!solve_normal_equations<T>(one, of.rows, of.columns, regularizer, rhs, x,
                                          right.columns))
        return invalid("matrix ", i, TROUPE_LACKS_RANK);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_solve_ls_cpu{
    .op = "MatrixSolveLs",
    .run = kernels_of<solution>(types::fields),
    .prepare = cache_attr<bool, "fast">,
};

} // namespace troupe::ops::matrix_solve_ls_cpu
