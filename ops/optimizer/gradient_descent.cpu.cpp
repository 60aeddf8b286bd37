#include "troupe/ops/optimizer/shared/apply.cpu.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::gradient_descent_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& rate = at.input(1);
  TROUPE_TRY(check_rate(rate));
  return update_variable<T>(at, descend<compute_type<T>>{widen(*rate.data<T>())});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def apply_gradient_descent_cpu{
    .op = "ApplyGradientDescent",
    .device = device_kind::cpu,
    .run = table(types::numbers),
    .prepare = keep_locking,
};

extern constexpr kernel_def apply_momentum_cpu{
    .op = "ApplyMomentum",
    .run = apply_kernels<momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_momentum_cpu{
    .op = "SparseApplyMomentum",
    .run = apply_kernels<momentum>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::gradient_descent_cpu
