// What the kernels of Equal and NotEqual share on GPUs.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct answer_alone {
  bool* to;
  bool answer;
  TROUPE_DEVICE void operator()(int64_t) const { *to = answer; }
};

/// Compares element by element. Tensors whose shapes do not fit differ as a whole, if that is no
/// error.
template <class T, class Fn>
status compare(kernel_context& at) {
  if (!at.state<bool>() && !broadcast(at.input(0).dims(), at.input(1).dims())) {
    TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
    return for_each(at, 1, answer_alone{out->template data<bool>(), Fn{}(0, 1)});
  }
  return binary<T, Fn, bool>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> equality_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = compare<Ts, Fn>, .code = code_of<Fn>()}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
