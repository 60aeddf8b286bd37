#include "troupe/ops/shape/shared/lin_space.hpp"
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
    for (auto i = begin; i < end; ++i) // sums fit, but products may wrap around
      to[i] = static_cast<T>(
          wrapping(std::plus<>{}, start,
                   wrapping(std::multiplies<>{}, static_cast<compute_type<T>>(i), delta)));
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> range_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, range<Ts>}...};
}

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, plan_lin_space<T>(at));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&steps.count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->template data<T>();
  at.parallel_for(steps.count, 0.5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = static_cast<T>(steps.at(i));
  });
  to[steps.count - 1] = steps.last;
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lin_space_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def range_cpu{
    .op = "Range",
    .run = range_kernels(types::real_numbers),
    .key = "Tidx",
};

extern constexpr kernel_def lin_space_cpu{
    .op = "LinSpace",
    .run = lin_space_kernels(types::floating),
};

} // namespace troupe::ops::range_cpu
