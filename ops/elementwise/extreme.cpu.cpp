#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops::extreme_cpu {
namespace {

struct larger {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || is_nan(a) ? a : b;
  }
};

struct smaller {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || is_nan(a) ? a : b;
  }
};

template <class T>
void clip(const T* x, const T* low, int64_t low_step, const T* high, int64_t high_step, T* y,
          int64_t count) {
  using value = compute_type<T>;
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    value element = widen(x[i]), least = widen(low[i * low_step]),
          most = widen(high[i * high_step]);
    element = most < element ? most : element;
    y[i] = static_cast<T>(element < least ? least : element);
  }
}

template <class T>
status run(kernel_context& at) {
  const auto& t = at.input(0);
  int64_t steps[2];
  for (int i = 0; i < 2; ++i) {
    const auto& bound = at.input(i + 1);
    if (bound.rank() != 0 && !(bound.dims() == t.dims()))
      return invalid("bounds must be scalars or have the shape of t, got ", bound.dims(), " and ",
                     t.dims());
    steps[i] = bound.rank() == 0 ? 0 : 1;
  }
  const T *x = t.data<T>(), *low = at.input(1).data<T>(), *high = at.input(2).data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, t.dims()));
  auto* y = out->template data<T>();
  at.parallel_for(t.elements(), 0.3, [&](int64_t begin, int64_t end) {
    clip(x + begin, low + begin * steps[0], steps[0], high + begin * steps[1], steps[1], y + begin,
         end - begin);
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def maximum_cpu{
    .op = "Maximum",
    .run = binary_kernels<larger>(types::real_numbers),
};

extern constexpr kernel_def minimum_cpu{
    .op = "Minimum",
    .run = binary_kernels<smaller>(types::real_numbers),
};

extern constexpr kernel_def clip_by_value_cpu{
    .op = "ClipByValue",
    .run = kernels(types::real_numbers),
};

} // namespace troupe::ops::extreme_cpu
