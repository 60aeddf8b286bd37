// SegmentProd: products of neighbouring rows with the same number.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::segment_prod_op {

extern constexpr op_def segment_prod{
    .name = "SegmentProd",
    .doc = "Multiplies the rows of data that have the same number in segment_ids.\n\nThe numbers "
           "must not decrease. Row i of the output comes from the rows numbered i, or is ones "
           "where there are none; the last number says how many there are.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .effects = data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_product_gradient,
    .example = R"(
y = SegmentProd(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[3, 8], [5, 6]]
)",
};

} // namespace troupe::ops::segment_prod_op
