#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::self_adjoint_eig_v2_cpu {
namespace {

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
      if (find_eigenvalues(from + i * of.size(), of.rows, to_e + i * of.rows,
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
    .prepare = cache_attr<bool, "compute_v">,
};

} // namespace troupe::ops::self_adjoint_eig_v2_cpu
