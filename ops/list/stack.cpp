// Stacks of tensors, in which loops of TensorFlow 1 keep values for their gradients.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::stack_op {
namespace {

result<shapes> infer_stack(const infer_context& at) {
  if (at.inputs() == 1)
    TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{shape{}};
}

result<shapes> infer_push(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{at.input(1)};
}

// The shape of the popped value is known only at run time.
result<shapes> infer_pop(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{partial_shape::unknown()};
}

result<shapes> infer_close(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{};
}

constexpr auto no_gradient = "TensorFlow has none either: stacks keep what gradients need";

} // namespace

extern constexpr op_def stack_v2{
    .name = "StackV2",
    .doc = "Makes an empty stack.\n\nEach run makes a new stack, which is released with its last "
           "handle. max_size is the maximum number of elements; a negative number means no limit.",
    .inputs = {on_host("max_size", "i32")},
    .outputs = {{"handle", "variant"}},
    .attrs = {{"elem_type", any_value}, {"stack_name", ""}},
    .effects = effect::stateful,
    .infer = infer_stack,
    .no_gradient = no_gradient,
    .example = R"(
stack = StackV2(i32(1)) elem_type=f32
one = StackPushV2(stack, f32(7))
two = StackPushV2(stack, f32(8), ^one)
fetch two
error invalid_argument "max_size allows no more"
)",
};

extern constexpr op_def stack_first{
    .name = "Stack",
    .doc =
        "Makes an empty stack without a limit of its elements.\n\nOtherwise the same as StackV2.",
    .outputs = {{"handle", "variant"}},
    .attrs = {{"elem_type", any_value}, {"stack_name", ""}},
    .effects = effect::stateful,
    .infer = infer_stack,
    .no_gradient = no_gradient,
    .example = R"(
stack = Stack elem_type=string
pushed = StackPush(stack, string("some"))
y = StackPop(stack, ^pushed) elem_type=string
fetch y = string("some")
)",
};

extern constexpr op_def stack_push{
    .name = "StackPushV2",
    .second_name = "StackPush",
    .doc = "Pushes a tensor on a stack, and outputs it.\n\nStacks are in the host's memory, to "
           "which tensors of a GPU are copied. With swap_memory, tensors of at least 16 KiB are "
           "written to files, if the session or task has a folder for them. Otherwise a tensor of "
           "a processor is not copied.",
    .inputs = {{"handle", "variant"}, {"elem", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_value}, {"swap_memory", false}},
    .effects = effect::stateful,
    .infer = infer_push,
    .no_gradient = no_gradient,
    .example = R"(
stack = StackV2(i32(-1)) elem_type=f32
one = StackPushV2(stack, f32[1, 2])
two = StackPushV2(stack, f32[3, 4], ^one)
last = StackPopV2(stack, ^two) elem_type=f32
first = StackPopV2(stack, ^last) elem_type=f32
fetch two = f32[3, 4]
fetch last = f32[3, 4]
fetch first = f32[1, 2]
)",
};

extern constexpr op_def stack_pop{
    .name = "StackPopV2",
    .second_name = "StackPop",
    .doc = "Removes the tensor from a stack that was pushed last, and outputs it.",
    .inputs = {{"handle", "variant"}},
    .outputs = {{"elem", "elem_type"}},
    .attrs = {{"elem_type", any_value}},
    .effects = effect::stateful,
    .infer = infer_pop,
    .no_gradient = no_gradient,
    .example = R"(
stack = StackV2(i32(-1)) elem_type=f32
y = StackPopV2(stack) elem_type=f32
fetch y
error invalid_argument "it is empty"
)",
};

extern constexpr op_def stack_close{
    .name = "StackCloseV2",
    .second_name = "StackClose",
    .doc = "Releases all elements of a stack.\n\nAny later use is an error. Closing is optional: "
           "all elements are released with the last handle.",
    .inputs = {{"handle", "variant"}},
    .effects = effect::stateful,
    .infer = infer_close,
    .no_gradient = no_gradient,
    .example = R"(
stack = StackV2(i32(-1)) elem_type=f32
one = StackPushV2(stack, f32(7))
done = StackCloseV2(stack, ^one)
y = StackPopV2(stack, ^done) elem_type=f32
fetch y
error invalid_argument "closed already"
)",
};

} // namespace troupe::ops::stack_op
