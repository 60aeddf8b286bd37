#include "troupe/ops/linalg/matrices.cpu.hpp"
#include "troupe/runtime/graph.hpp"

#include <limits>

#include <Eigen/SVD>

namespace troupe::ops {
namespace {

struct wanted {
  bool vectors, full;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<wanted>(
      wanted{setup.of.attr<bool>("compute_uv"), setup.of.attr<bool>("full_matrices")})};
}

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Where u is null, only s is computed; otherwise u has k_u columns and v has k_v.
template <class T>
void decompose(const T* a, int64_t m, int64_t n, T* s, T* u, int64_t k_u, T* v, int64_t k_v) {
  auto p = std::min(m, n);
  if (p == 0) {
    if (u) {
      Eigen::Map<matrix<T>>{u, m, k_u}.setIdentity();
      Eigen::Map<matrix<T>>{v, n, k_v}.setIdentity();
    }
    return;
  }
  using column_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  unsigned options = 0;
  if (u)
    options = (k_u == p ? Eigen::ComputeThinU : Eigen::ComputeFullU) |
              (k_v == p ? Eigen::ComputeThinV : Eigen::ComputeFullV);
  Eigen::BDCSVD<column_major> found{Eigen::Map<const matrix<T>>{a, m, n}, options};
  auto failed = found.info() != Eigen::Success;
  auto nan = T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
  auto write = [&](auto&& to, const auto& from) {
    if (failed)
      to.setConstant(nan);
    else
      to = from.template cast<T>();
  };
  write(Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>{s, p}, found.singularValues());
  if (u) {
    write(Eigen::Map<matrix<T>>{u, m, k_u}, found.matrixU());
    write(Eigen::Map<matrix<T>>{v, n, k_v}, found.matrixV());
  }
}

struct decomposition {
  template <class T>
  static status run(kernel_context& at) {
    const auto& dims = at.input(0).dims();
    TROUPE_ASSIGN(auto of, matrices_of(at.input(0)));
    auto [vectors, full] = at.state<wanted>();
    auto m = of.rows, n = of.columns, p = std::min(m, n);
    auto k_u = full ? m : p, k_v = full ? n : p;
    TROUPE_ASSIGN(auto s_dims, with_matrix(dims, {p}));
    TROUPE_ASSIGN(auto u_dims, vectors ? with_matrix(dims, {m, k_u}) : shape{0});
    TROUPE_ASSIGN(auto v_dims, vectors ? with_matrix(dims, {n, k_v}) : shape{0});
    TROUPE_ASSIGN(auto* s, at.allocate(0, s_dims));
    TROUPE_ASSIGN(auto* u, at.allocate(1, u_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(2, v_dims));
    const auto* from = at.input(0).data<T>();
    auto* to_s = s->template data<T>();
    auto* to_u = vectors ? u->template data<T>() : nullptr;
    auto* to_v = vectors ? v->template data<T>() : nullptr;
    auto work = 20 * static_cast<double>(of.size()) * static_cast<double>(p);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      decompose(from + i * of.size(), m, n, to_s + i * p, vectors ? to_u + i * m * k_u : nullptr,
                k_u, vectors ? to_v + i * n * k_v : nullptr, k_v);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def svd_cpu{
    .op = "Svd",
    .run = kernels_of<decomposition>(types::fields),
    .prepare = prepare,
};

} // namespace troupe::ops
