#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/ops/list/shared/step_objects.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::stack_cpu {
namespace {

struct stack_form {
  std::string name;
  dtype type;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& name = setup.origin.attr<std::string>("stack_name");
  return std::shared_ptr<void>{std::make_shared<stack_form>(
      name.empty() ? setup.origin.name() : name, setup.origin.attr<dtype>("elem_type"))};
}

status run_stack(kernel_context& at) {
  int64_t capacity = -1;
  if (at.inputs() == 1) {
    if (at.input(0).rank() != 0)
      return invalid("max_size must be a scalar, got shape ", at.input(0).dims());
    capacity = *at.input(0).data<int32_t>();
  }
  const auto& form = at.state<stack_form>();
  return set_handle(at, std::make_shared<tensor_stack>(form.name, form.type, capacity));
}

result<std::shared_ptr<void>> prepare_push(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<bool>(setup.origin.attr<bool>("swap_memory"))};
}

status run_push(kernel_context& at) {
  TROUPE_ASSIGN(auto* to, stack_at(at));
  // In TensorFlow's graphs the attribute is a hint about the host's memory, not about files.
  const auto* space = at.device().swap();
  auto swaps = at.state<bool>() && space && space->has_chosen_folder();
  TROUPE_ASSIGN(auto value, swaps ? swapped(at, at.input(1)) : at.input(1));
  TROUPE_TRY(to->push(std::move(value)));
  at.set_output(0, at.input(1));
  return {};
}

status run_pop(kernel_context& at) {
  TROUPE_ASSIGN(auto* from, stack_at(at));
  TROUPE_ASSIGN(auto value, from->pop(at.output_type(0)));
  at.set_output(0, std::move(value));
  return {};
}

status run_close(kernel_context& at) {
  TROUPE_ASSIGN(auto* stack_object, stack_at(at));
  stack_object->close();
  return {};
}

} // namespace

extern constexpr kernel_def stack_v2_cpu{
    .op = "StackV2",
    .run = {{dtype::none, run_stack}},
    .prepare = prepare,
};

extern constexpr kernel_def stack_first_cpu{
    .op = "Stack",
    .run = {{dtype::none, run_stack}},
    .prepare = prepare,
};

extern constexpr kernel_def stack_push_cpu{
    .op = "StackPushV2",
    .run = {{dtype::none, run_push}},
    .prepare = prepare_push,
};

extern constexpr kernel_def stack_pop_cpu{
    .op = "StackPopV2",
    .run = {{dtype::none, run_pop}},
};

extern constexpr kernel_def stack_close_cpu{
    .op = "StackCloseV2",
    .run = {{dtype::none, run_close}},
};

} // namespace troupe::ops::stack_cpu
