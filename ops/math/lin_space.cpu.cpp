#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, stop and num must be scalars, got shape ", at.input(i).dims());
  auto count = to_integers(at.input(2))[0];
  if (count <= 0)
    return invalid("num must be positive, got ", count);
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const T start = *at.input(0).data<T>(), stop = *at.input(1).data<T>();
  auto first = static_cast<compute_type<T>>(widen(start));
  auto step = count > 1 ? (widen(stop) - first) / static_cast<compute_type<T>>(count - 1) : 0;
  auto* to = out->template data<T>();
  at.parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = static_cast<T>(first + step * static_cast<compute_type<T>>(i));
  });
  to[count - 1] = count > 1 ? stop : start; // rounding does not change the ends
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def lin_space_cpu{
    .op = "LinSpace",
    .run = kernels(types::floating),
};

} // namespace troupe::ops
