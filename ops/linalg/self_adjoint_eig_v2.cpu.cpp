#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"

#include <Eigen/Eigenvalues>

namespace troupe::ops {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Where v is null, only the eigenvalues are computed.
template <class T>
bool decompose(const T* a, int64_t n, T* e, T* v) {
  using column_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  column_major input = Eigen::Map<const matrix<T>>{a, n, n}.template triangularView<Eigen::Lower>();
  if (!input.allFinite()) // the iteration would not end before its limit
    return false;
  Eigen::SelfAdjointEigenSolver<column_major> found{input, v ? Eigen::ComputeEigenvectors
                                                             : Eigen::EigenvaluesOnly};
  if (found.info() != Eigen::Success)
    return false;
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>{e, n} = found.eigenvalues().template cast<T>();
  if (v)
    Eigen::Map<matrix<T>>{v, n, n} = found.eigenvectors();
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

} // namespace troupe::ops
