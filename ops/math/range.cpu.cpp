#include "troupe/ops/math/range.hpp"

#include "troupe/ops/element_types.hpp"
#include <functional>

namespace troupe::ops {
namespace {

template <class T>
status range(kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, limit and delta must be scalars, got shape ", at.input(i).dims());
  auto scalar = [&](int i) { return compute_type<T>{widen(*at.input(i).template data<T>())}; };
  auto start = scalar(0), delta = scalar(2);
  TROUPE_ASSIGN(auto count, count_steps(start, scalar(1), delta));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->template data<T>();
  at.parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) // each sum fits, but not each product: both wrap around
      to[i] = static_cast<T>(
          wrapping(std::plus<>{}, start,
                   wrapping(std::multiplies<>{}, static_cast<compute_type<T>>(i), delta)));
  });
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, range<Ts>}...};
}

} // namespace

extern constexpr kernel_def range_cpu{
    .op = "Range",
    .run = kernels(types::real_numbers),
    .key = "Tidx",
};

} // namespace troupe::ops
