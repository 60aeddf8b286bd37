#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops::ones_like_any {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, at.input(0).dims()));
  auto one = tensor::scalar(T(1));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(one, {*out, begin}, end - begin);
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def ones_like_any{
    .op = "OnesLike",
    .run = kernels(types::numbers + types::boolean),
    .on_any_device = true,
};

} // namespace troupe::ops::ones_like_any
