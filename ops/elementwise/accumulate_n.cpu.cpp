#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <functional>

namespace troupe::ops::accumulate_n_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  const auto& declared_shape = at.state<partial_shape>();
  if (!declared_shape.compatible(dims))
    return invalid("all inputs must have the shape ", declared_shape, ", got ", dims);
  for (int i = 1; i < at.inputs(); ++i)
    if (!(at.input(i).dims() == dims))
      return invalid("all inputs must have one shape, got ", dims, " and ", at.input(i).dims());
  auto count = at.input(0).elements();
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->template data<T>();
  at.parallel_for(count, at.inputs(), [&](int64_t begin, int64_t end) {
    std::copy(at.input(0).template data<T>() + begin, at.input(0).template data<T>() + end,
              to + begin);
    for (int i = 1; i < at.inputs(); ++i)
      std::transform(to + begin, to + end, at.input(i).template data<T>() + begin, to + begin,
                     [](const T& a, const T& b) {
                       return static_cast<T>(wrapping(std::plus<>{}, widen(a), widen(b)));
                     });
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels_of(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def accumulate_n_v2_cpu{
    .op = "AccumulateNV2",
    .run = kernels_of(types::numbers),
    .prepare = cache_attr<partial_shape, "shape">,
};

} // namespace troupe::ops::accumulate_n_cpu
