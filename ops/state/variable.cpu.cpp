#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::variable_cpu {
namespace {

status run_is_variable_initialized(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<bool>() = at.variable(0).initialized();
  return {};
}

template <class T>
status run_count_up_to(kernel_context& at) {
  auto& counter = at.variable(0);
  auto limit = at.state<int64_t>();
  TROUPE_ASSIGN(auto* old_value, at.allocate(0, shape{}));
  return counter.update(
      [&](tensor& value) -> status {
        if (value.rank() != 0)
          return invalid("variable '", counter.name(), "' must be a scalar, its value has shape ",
                         value.dims());
        auto& count = *value.data<T>();
        if (count >= limit)
          return failure(error_kind::out_of_range, "variable '", counter.name(),
                         "' has reached the limit ", limit);
        *old_value->template data<T>() = count;
        // The limit may exceed the range of the type.
        count = static_cast<T>(static_cast<uint64_t>(count) + 1);
        return {};
      },
      at.device().memory()); // the value outlives the step
}

// The program resolves references when it is compiled, and the runtime reads the variable.
status pass_variable(kernel_context&) { return {}; }

} // namespace

extern constexpr kernel_def variable_cpu{
    .op = "Variable",
    .run = {{dtype::none, pass_variable}},
};

extern constexpr kernel_def variable_v2_cpu{
    .op = "VariableV2",
    .run = {{dtype::none, pass_variable}},
};

extern constexpr kernel_def var_handle_op_cpu{
    .op = "VarHandleOp",
    .run = {{dtype::none, pass_variable}},
};

extern constexpr kernel_def is_variable_initialized_cpu{
    .op = "IsVariableInitialized",
    .device = device_kind::cpu,
    .run = {{dtype::none, run_is_variable_initialized}},
};

extern constexpr kernel_def count_up_to_cpu{
    .op = "CountUpTo",
    .run = {{dtype::i32, run_count_up_to<int32_t>}, {dtype::i64, run_count_up_to<int64_t>}},
    .prepare = cache_attr<int64_t, "limit">,
};

} // namespace troupe::ops::variable_cpu
