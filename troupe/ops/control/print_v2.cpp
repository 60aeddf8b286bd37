// PrintV2: says a string.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::print_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
    .infer = infer,
    .no_gradient = "it has no outputs",
    .example = R"(
say = PrintV2(string("")) end=""
target say
)",
};

} // namespace troupe::ops::print_v2_op
