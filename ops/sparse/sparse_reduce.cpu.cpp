#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_reduce_cpu {
namespace {

template <class T, class Fn>
status sparse_reduce(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  auto axes = to_integers(at.input(3));
  TROUPE_ASSIGN(auto reduced, axes_of({axes.data(), axes.size()}, x.rank()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, without(x.dims(), reduced, at.state<bool>())));
  auto places = x.positions_in(without(x.dims(), reduced, true));
  // Sums of halves are rounded only at the end.
  using wide = compute_type<T>;
  std::vector<wide> results(is_half<T> ? static_cast<size_t>(out->elements()) : 0);
  auto* to = out->template data<T>();
  wide* total = nullptr;
  if constexpr (is_half<T>) {
    total = results.data();
  } else {
    total = to;
    std::fill_n(to, out->elements(), T{});
  }
  std::vector<bool> has_element(static_cast<size_t>(out->elements()));
  const auto* from = x.values().data<T>();
  for (size_t i = 0; i < places.size(); ++i) {
    auto place = static_cast<size_t>(places[i]);
    total[place] =
        has_element[place] ? Fn{}(total[place], wide{widen(from[i])}) : wide{widen(from[i])};
    has_element[place] = true;
  }
  if constexpr (is_half<T>)
    std::ranges::transform(results, to, [](wide sum) { return static_cast<T>(sum); });
  return {};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_reduce_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, sparse_reduce<Ts, Fn>}...};
}

} // namespace

extern constexpr kernel_def sparse_reduce_sum_cpu{
    .op = "SparseReduceSum",
    .run = sparse_reduce_kernels<adding>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def sparse_reduce_max_cpu{
    .op = "SparseReduceMax",
    .run = sparse_reduce_kernels<larger>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::sparse_reduce_cpu
