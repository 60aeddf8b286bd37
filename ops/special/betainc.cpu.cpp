#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/beta_steps.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::betainc_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, beta_steps(at));
  const auto *a = at.input(0).data<T>(), *b = at.input(1).data<T>(), *x = at.input(2).data<T>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, steps.dims));
  auto* z = out->template data<T>();
  at.parallel_for(out->elements(), 40 * called, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      z[i] = static_cast<T>(static_cast<compute_type<T>>(special::incomplete_beta(
          widen(a[i * steps.of[0]]), widen(b[i * steps.of[1]]), widen(x[i * steps.of[2]]))));
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def betainc_cpu{
    .op = "Betainc",
    .run = kernels(types::floating),
};

} // namespace troupe::ops::betainc_cpu
