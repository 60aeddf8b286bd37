#include "troupe/ops/element_types.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  auto* to = out->template data<T>();
  at.parallel_for(out->elements(), 0.2,
                  [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, T(1)); });
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def ones_like_cpu{
    .op = "OnesLike",
    .run = kernels(types::numbers + types::boolean),
};

} // namespace troupe::ops
