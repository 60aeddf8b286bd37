#include "troupe/ops/shape/shared/range_steps.hpp"

#include <functional>

namespace troupe::ops::range_cpu {
namespace {

template <class T>
status range(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, plan_range<T>(at));
  auto start = steps.start, delta = steps.delta;
  TROUPE_ASSIGN(auto* out, at.allocate(0, steps.dims));
  auto* to = out->template data<T>();
  at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) // each sum fits, but not each product: both wrap around
      to[i] = static_cast<T>(
          wrapping(std::plus<>{}, start,
                   wrapping(std::multiplies<>{}, static_cast<compute_type<T>>(i), delta)));
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, range<Ts>}...};
}

} // namespace

extern constexpr kernel_def range_cpu{
    .op = "Range",
    .run = kernels(types::real_numbers),
    .key = "Tidx",
};

} // namespace troupe::ops::range_cpu
