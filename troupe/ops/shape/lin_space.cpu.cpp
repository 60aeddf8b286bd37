#include "troupe/ops/shape/lin_space.hpp"

namespace troupe::ops::lin_space_cpu {
namespace {

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
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def lin_space_cpu{
    .op = "LinSpace",
    .run = kernels(types::floating),
};

} // namespace troupe::ops::lin_space_cpu
