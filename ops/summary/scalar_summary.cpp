// ScalarSummary: the numbers of a step for TensorBoard.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::scalar_summary_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (!at.input(0).compatible(at.input(1)))
    return at.invalid("tags and values must have one shape, got ", at.input(0), " and ",
                      at.input(1));
  return shapes{partial_shape{shape{}}};
}

} // namespace

extern constexpr op_def scalar_summary{
    .name = "ScalarSummary",
    .doc = "Writes numbers with their tags as a Summary, the message that event files are made of."
           "\n\nA summary_writer of the API adds it to such a file; MergeSummary makes one of "
           "several. Numbers become f32.",
    .inputs = {{"tags", "string"}, {"values", "T"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"T", real_numbers}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = ScalarSummary(string("loss"), f32(0.5))
fetch y = string("\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f")
)",
};

} // namespace troupe::ops::scalar_summary_op
