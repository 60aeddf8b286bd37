#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_extreme_cpu {
namespace {

// Missing elements count as 0.
template <class T, class Fn>
status combine_sparse(kernel_context& at) {
  TROUPE_ASSIGN(auto a, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, sparse_view::read(at, sparse_inputs{3}));
  if (!(a.dims() == b.dims()))
    return invalid("a has shape ", a.dims(), ", b has ", b.dims());
  TROUPE_TRY(a.in_order());
  TROUPE_TRY(b.in_order());
  auto pairs = pair_up(a, b);
  TROUPE_ASSIGN(auto* out, at.allocate(1, shape{static_cast<int64_t>(pairs.size())}));
  const auto *of_a = a.values().data<T>(), *of_b = b.values().data<T>();
  auto* to = out->template data<T>();
  std::vector<int64_t> positions;
  for (auto [i, k] : pairs) {
    positions.push_back(i < 0 ? b.positions()[static_cast<size_t>(k)]
                              : a.positions()[static_cast<size_t>(i)]);
    auto x = i < 0 ? T{} : of_a[i], y = k < 0 ? T{} : of_b[k];
    *to++ = static_cast<T>(Fn{}(widen(x), widen(y)));
  }
  return make_indices(at, 0, positions, a.dims());
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> combine_sparse_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_sparse<Ts, Fn>}...};
}

} // namespace

extern constexpr kernel_def sparse_sparse_maximum_cpu{
    .op = "SparseSparseMaximum",
    .run = combine_sparse_kernels<larger>(types::real_numbers),
};

extern constexpr kernel_def sparse_sparse_minimum_cpu{
    .op = "SparseSparseMinimum",
    .run = combine_sparse_kernels<smaller>(types::real_numbers),
};

} // namespace troupe::ops::sparse_extreme_cpu
