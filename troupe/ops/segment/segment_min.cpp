// SegmentMin: the smallest of neighbouring rows with the same number.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::segment_min_op {

extern constexpr op_def segment_min{
    .name = "SegmentMin",
    .doc = "Takes the smallest of the rows of data that have the same number in "
           "segment_ids.\n\nThe numbers must not decrease. Row i of the output comes from the "
           "rows numbered i, element by element, or is zeros where there are none; the last "
           "number says how many there are. Elements that are equally small share the gradient.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers}, {"Tindices", index_types}},
    .effects = data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_extreme_gradient,
    .example = R"(
y = SegmentMin(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[1, 2], [5, 6]]
)",
};

} // namespace troupe::ops::segment_min_op
