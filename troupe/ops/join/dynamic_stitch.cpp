// DynamicStitch: rows of several tensors put where indices say.
#include "troupe/ops/join/shared/dynamic_stitch.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::dynamic_stitch_op {

extern constexpr op_def dynamic_stitch{
    .name = "DynamicStitch",
    .doc = "Makes row j of data[i] the row indices[i][j] of the output.\n\n"
           "The shape of indices[i] begins that of data[i]; what is left is a row. Of several "
           "rows with one number the last stays; rows that have none are zero.",
    .inputs = {{"indices", "i32", "N"}, {"data", "T", "N"}},
    .outputs = {{"merged", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}},
    .effects = data_dependent_shape,
    .infer = infer_stitching,
    .gradient = stitching_gradient,
    .example = R"(
y = DynamicStitch(i32(1), i32[[2, 0]], f32[1, 2], f32[[[3, 4], [5, 6]]])
fetch y = f32[[5, 6], [1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::dynamic_stitch_op
