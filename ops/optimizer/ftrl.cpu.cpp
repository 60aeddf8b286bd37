#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::ftrl_cpu {
namespace {

template <class T, bool Shrinkage>
status apply_ftrl(kernel_context& at) {
  using compute = compute_type<T>;
  TROUPE_ASSIGN(auto parameters, training_scalars(at));
  if (parameters[Shrinkage ? 4 : 3] == -0.5)
    return apply<T, ftrl<compute, true, Shrinkage>>(at);
  return apply<T, ftrl<compute, false, Shrinkage>>(at);
}

template <bool Shrinkage>
constexpr inplace_vector<typed_kernel, 18> ftrl_kernels() {
  return {{dtype::f16, apply_ftrl<float16, Shrinkage>},
          {dtype::bf16, apply_ftrl<bfloat16, Shrinkage>},
          {dtype::f32, apply_ftrl<float, Shrinkage>},
          {dtype::f64, apply_ftrl<double, Shrinkage>}};
}

} // namespace

extern constexpr kernel_def apply_ftrl_cpu{
    .op = "ApplyFtrl",
    .run = ftrl_kernels<false>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_ftrl_v2_cpu{
    .op = "ApplyFtrlV2",
    .run = ftrl_kernels<true>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_ftrl_cpu{
    .op = "SparseApplyFtrl",
    .run = ftrl_kernels<false>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_ftrl_v2_cpu{
    .op = "SparseApplyFtrlV2",
    .run = ftrl_kernels<true>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::ftrl_cpu
