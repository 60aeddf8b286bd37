#include "troupe/ops/elementwise/shared/division.cpu.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_dense_cwise_cpu {
namespace {

template <class T, class Fn>
status sparse_dense(kernel_context& at) {
  const auto& dense = at.input(3);
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto joint, broadcast(x.dims(), dense.dims()));
  if (!(joint == x.dims()))
    return invalid("the dense tensor ", dense.dims(),
                   " cannot be broadcast to the sparse one's shape ", x.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{x.count()}));
  auto places = x.positions_in(dense.dims());
  const auto *a = x.values().data<T>(), *b = dense.data<T>();
  auto* to = out->template data<T>();
  for (size_t i = 0; i < places.size(); ++i) {
    if constexpr (std::is_integral_v<T> && std::is_same_v<Fn, divides>)
      if (b[places[i]] == 0)
        return invalid("cannot divide a whole number by zero");
    to[i] = static_cast<T>(Fn{}(widen(a[i]), widen(b[places[i]])));
  }
  return {};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_dense_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, sparse_dense<Ts, Fn>}...};
}

} // namespace

extern constexpr kernel_def sparse_dense_cwise_add_cpu{
    .op = "SparseDenseCwiseAdd",
    .run = sparse_dense_kernels<adding>(types::numbers),
};

extern constexpr kernel_def sparse_dense_cwise_mul_cpu{
    .op = "SparseDenseCwiseMul",
    .run = sparse_dense_kernels<multiplying>(types::numbers),
};

extern constexpr kernel_def sparse_dense_cwise_div_cpu{
    .op = "SparseDenseCwiseDiv",
    .run = sparse_dense_kernels<divides>(types::numbers),
};

} // namespace troupe::ops::sparse_dense_cwise_cpu
