#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"
#include "troupe/ops/linalg/wide_matrix.cpu.hpp"

#include <Eigen/Eigenvalues>

namespace troupe::ops::self_adjoint_eig_v2_cpu {
namespace {

template <class W>
using solver = Eigen::SelfAdjointEigenSolver<Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>>;

// Not inlined, so that it is compiled for two types only.
template <class W>
[[gnu::noinline]] solver<W> solved(const Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>& a,
                                   int options) {
  return solver<W>{a, options};
}

// Where v is null, only the eigenvalues are computed.
template <class T>
bool decompose(const T* a, int64_t n, T* e, T* v) {
  wide_matrix<T> lower = read_matrix(a, n, n).template triangularView<Eigen::Lower>();
  if (!lower.allFinite()) // the iteration would not end before its limit
    return false;
  auto found = solved<wide<T>>(lower, v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (found.info() != Eigen::Success)
    return false;
  write_matrix(found.eigenvalues().template cast<wide<T>>(), e);
  if (v)
    write_matrix(found.eigenvectors(), v);
  return true;
}

struct decomposition {
  template <class T>
  static status run(kernel_context& at) {
    const auto& dims = at.input(0).dims();
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    auto vectors = at.state<bool>();
    TROUPE_ASSIGN(auto e_dims, with_matrix(dims, {of.rows}));
    TROUPE_ASSIGN(auto* e, at.allocate(0, e_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(1, vectors ? dims : shape{0}));
    const auto* from = at.input(0).data<T>();
    auto* to_e = e->template data<T>();
    auto* to_v = vectors ? v->template data<T>() : nullptr;
    if (of.rows == 0)
      return {};
    return for_each_matrix(at, of.count, 9 * cube(of.rows), [&](int64_t i) -> status {
      if (decompose(from + i * of.size(), of.rows, to_e + i * of.rows,
                    vectors ? to_v + i * of.size() : nullptr))
        return {};
      return invalid("matrix ", i, " has no eigenvalues that can be found");
    });
  }
};

} // namespace

extern constexpr kernel_def self_adjoint_eig_v2_cpu{
    .op = "SelfAdjointEigV2",
    .run = kernels_of<decomposition>(types::fields),
    .prepare = keep_attr<bool, "compute_v">,
};

} // namespace troupe::ops::self_adjoint_eig_v2_cpu
