// MergeSummary: several summaries as one.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::merge_summary_op {

extern constexpr op_def merge_summary{
    .name = "MergeSummary",
    .doc = "Makes one Summary of all values of several.\n\n"
           "Inputs may have any shape. Fails where two values have one tag.",
    .inputs = {{"inputs", "string", "N"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"N", at_least{1}}},
    .infer = infer::scalar,
    .no_gradient = "bytes have none",
    .example = R"(
a = ScalarSummary(string("a"), f32(0))
b = ScalarSummary(string("b"), f32(0))
y = MergeSummary(a, b)
fetch y = string("\x0a\x08\x0a\x01a\x15\x00\x00\x00\x00\x0a\x08\x0a\x01b\x15\x00\x00\x00\x00")
)",
};

} // namespace troupe::ops::merge_summary_op
