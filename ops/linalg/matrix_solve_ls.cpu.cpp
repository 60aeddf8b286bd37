#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"
#include "troupe/ops/solvers.hpp"

#include <algorithm>

#include <Eigen/QR>

namespace troupe::ops {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using const_view = Eigen::Map<const matrix<T>>;

template <class T>
bool solve_fast(const const_view<T>& a, const const_view<T>& b, double l2,
                Eigen::Map<matrix<T>> x) {
  auto tall = a.rows() >= a.cols();
  matrix<T> gramian = tall ? matrix<T>{a.adjoint() * a} : matrix<T>{a * a.adjoint()};
  gramian.diagonal().array() += static_cast<T>(l2);
  auto n = gramian.rows();
  matrix<T> factor{n, n}, found = tall ? matrix<T>{a.adjoint() * b} : matrix<T>{b};
  if (!factorize<T>(gramian.data(), n, factor.data()))
    return false;
  for (bool adjoint : {false, true})
    solve_triangular<T>(factor.data(), n, true, adjoint, found.data(), found.cols());
  if (tall)
    x = found;
  else
    x.noalias() = a.adjoint() * found;
  return true;
}

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
        (fast ? 1 : 4);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      const_view<T> one{a.data<T>() + i * of.size(), of.rows, of.columns};
      const_view<T> rhs{b.data<T>() + i * right.size(), of.rows, right.columns};
      Eigen::Map<matrix<T>> x{to + i * of.columns * right.columns, of.columns, right.columns};
      if (!fast)
        x = Eigen::CompleteOrthogonalDecomposition<matrix<T>>{one}.solve(rhs);
      else if (!solve_fast<T>(one, rhs, regularizer, x))
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
