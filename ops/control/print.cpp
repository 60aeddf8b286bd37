// Print and PrintV2: show values while a step runs.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::print_op {
namespace {

edges gradient(gradient_context& at) {
  edges to_inputs(static_cast<size_t>(at.inputs()));
  to_inputs[0] = at.output_gradient(0);
  return to_inputs;
}

result<shapes> infer_print_v2(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  const auto& stream = at.attr<std::string>("output_stream");
  if (stream != "stdout" && stream != "stderr" && stream != "log(info)" &&
      stream != "log(warning)" && stream != "log(error)")
    return at.invalid(
        "output_stream must be stdout, stderr, log(info), log(warning) or log(error), "
        "got '",
        stream, "'");
  return shapes{};
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

extern constexpr op_def print_v2{
    .name = "PrintV2",
    .doc =
        "Writes a string and `end` to a stream.\n\n"
        "output_stream is stdout or stderr; log(info), log(warning) and log(error) are stderr as "
        "well. TensorFlow's files are refused: a graph that comes from elsewhere should not write "
        "any. StringFormat makes strings of tensors.",
    .inputs = {{"input", "string"}},
    .attrs = {{"output_stream", "stderr"}, {"end", "\n"}},
    .effects = effect::stateful,
    .infer = infer_print_v2,
    .no_gradient = "it has no outputs",
    .example = R"(
say = PrintV2(string("")) end=""
target say
)",
};

} // namespace troupe::ops::print_op
