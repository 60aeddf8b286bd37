// HistogramSummary: the distribution of a tensor's elements for TensorBoard.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::histogram_summary_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{partial_shape{shape{}}};
}

} // namespace

extern constexpr op_def histogram_summary{
    .name = "HistogramSummary",
    .doc = "Counts elements in ranges that grow by a tenth, and writes the counts as a Summary.\n\n"
           "The ranges go from 1e-12 to 1e20 and from there on, on both sides of zero; neighbours "
           "without elements are joined. Fails for elements that are not finite.",
    .inputs = {{"tag", "string"}, {"values", "T"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"T", real_numbers, dtype::f32}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = HistogramSummary(string("w"), f32[0.5, 2])
length = StringLength(y)
fetch length = i32(138)
)",
};

} // namespace troupe::ops::histogram_summary_op
