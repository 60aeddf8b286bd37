#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::variable_gpu {
namespace {

// The program resolves references when it is compiled, and the runtime reads the variable.
status pass_variable(kernel_context&) { return {}; }

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> variables(type_list<Ts...>) {
  return {{dtype_of<Ts>, pass_variable}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(variable){
    .op = "Variable",
    .device = device_kind::gpu,
    .run = variables(gpu::variable_types),
    .key = "dtype",
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(variable_v2){
    .op = "VariableV2",
    .device = device_kind::gpu,
    .run = variables(gpu::variable_types),
    .key = "dtype",
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(var_handle_op){
    .op = "VarHandleOp",
    .device = device_kind::gpu,
    .run = variables(gpu::variable_types),
    .key = "dtype",
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(temporary_variable){
    .op = "TemporaryVariable",
    .device = device_kind::gpu,
    .run = variables(gpu::variable_types),
    .key = "dtype",
};

} // namespace troupe::ops::variable_gpu
