// Print: looks at tensors on their way.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::print_op {
namespace {

edges gradient(gradient_context& at) {
  edges to_inputs(static_cast<size_t>(at.inputs()));
  to_inputs[0] = at.output_gradient(0);
  return to_inputs;
}

} // namespace

extern constexpr op_def print{
    .name = "Print",
    .doc =
        "Passes its input on, and writes a message and the data to the standard error stream.\n\n"
        "Of each axis, the first and the last `summarize` elements are written, or all for a "
        "negative number. Only the first first_n runs of the node write, or all for a negative "
        "number.",
    .inputs = {{"input", "T"}, {"data", "U"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"U", attr_kind::types},
              {"message", ""},
              {"first_n", -1},
              {"summarize", 3}},
    .effects = effect::stateful,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[2]
y = Print(x, x, i64[1, 2]) message="x is " first_n=0
feed x = f32[1, 2]
fetch y = f32[1, 2]
)",
};

} // namespace troupe::ops::print_op
