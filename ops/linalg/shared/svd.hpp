// Shared by the kernels of Svd.
#pragma once
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>

namespace troupe::ops {

struct wanted_vectors {
  bool any, full;
};

inline result<std::shared_ptr<void>> prepare_svd(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<wanted_vectors>(wanted_vectors{
      setup.origin.attr<bool>("compute_uv"), setup.origin.attr<bool>("full_matrices")})};
}

/// The matrices of the input, their number of singular values, the number of vectors of either
/// kind, and the outputs.
struct svd_outputs {
  matrix_batch of;
  int64_t values, left, right;
  tensor *s, *u, *v; ///< u and v are null unless vectors are requested
};

inline result<svd_outputs> allocate_svd(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  TROUPE_ASSIGN(auto batch, matrices_of(at.input(0)));
  auto [vectors, full] = at.state<wanted_vectors>();
  auto m = batch.rows, n = batch.columns, p = std::min(m, n);
  svd_outputs outputs{batch, p, full ? m : p, full ? n : p, nullptr, nullptr, nullptr};
  TROUPE_ASSIGN(auto s_dims, with_matrix(dims, {p}));
  TROUPE_ASSIGN(auto u_dims, vectors ? with_matrix(dims, {m, outputs.left}) : shape{0});
  TROUPE_ASSIGN(auto v_dims, vectors ? with_matrix(dims, {n, outputs.right}) : shape{0});
  TROUPE_ASSIGN(outputs.s, at.allocate(0, s_dims));
  TROUPE_ASSIGN(auto* u, at.allocate(1, u_dims));
  TROUPE_ASSIGN(auto* v, at.allocate(2, v_dims));
  if (vectors) {
    outputs.u = u;
    outputs.v = v;
  }
  return outputs;
}

} // namespace troupe::ops
