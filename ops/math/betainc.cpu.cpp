#include "troupe/ops/math/elementwise.cpu.hpp"
#include "troupe/ops/math/special_functions.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& dims = at.input(at.input(0).dims().rank() > 0   ? 0
                              : at.input(1).dims().rank() > 0 ? 1
                                                              : 2)
                         .dims();
  int64_t steps[3];
  for (int i = 0; i < 3; ++i) {
    const auto& own = at.input(i).dims();
    if (own.rank() > 0 && !(own == dims))
      return invalid("inputs must be scalars or have one shape, got ", dims, " and ", own);
    steps[i] = own.rank() > 0;
  }
  const auto *a = at.input(0).data<T>(), *b = at.input(1).data<T>(), *x = at.input(2).data<T>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* z = out->template data<T>();
  at.parallel_for(out->elements(), 40 * called, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      z[i] = static_cast<T>(static_cast<compute_type<T>>(special::incomplete_beta(
          widen(a[i * steps[0]]), widen(b[i * steps[1]]), widen(x[i * steps[2]]))));
  });
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def betainc_cpu{
    .op = "Betainc",
    .run = kernels(types::floating),
};

} // namespace troupe::ops
