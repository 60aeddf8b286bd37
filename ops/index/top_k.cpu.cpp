#include "troupe/ops/index/shared/top_k.hpp"
#include "troupe/ops/index/shared/nth_element.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <cmath>

namespace troupe::ops::top_k_cpu {
namespace {

status run_top_k(kernel_context& at) { return find_greatest(at, at.state<int64_t>()); }

status run_top_k_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto k, listed_k(at));
  return find_greatest(at, k);
}

template <class T>
bool less(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return a < b;
  else // a strict order even with NaNs
    return widen(a) < widen(b) || (std::isnan(widen(b)) && !std::isnan(widen(a)));
}

template <class T>
status run_nth_element(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto layout, nth_layout_of(at, at.state<bool>()));
  auto size = layout.size, n = layout.n;
  const auto& dims = layout.dims;
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto sorted, in.clone(at.memory()));
  auto *row = sorted.template data<T>(), *to = out->template data<T>();
  at.parallel_for(dims.elements(), 4 * static_cast<double>(size), [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      std::nth_element(row + i * size, row + i * size + n, row + (i + 1) * size, less<T>);
      to[i] = row[i * size + n];
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_nth_element<Ts>}...};
}

} // namespace

extern constexpr kernel_def top_k_cpu{
    .op = "TopK",
    .run = {{dtype::none, run_top_k}},
    .prepare = cache_attr<int64_t, "k">,
};

extern constexpr kernel_def top_k_v2_cpu{
    .op = "TopKV2",
    .run = {{dtype::none, run_top_k_v2}},
};

extern constexpr kernel_def nth_element_cpu{
    .op = "NthElement",
    .run = kernels(types::real_numbers),
    .prepare = cache_attr<bool, "reverse">,
};

} // namespace troupe::ops::top_k_cpu
