// NonMaxSuppressionV2: NonMaxSuppression with thresholds that are inputs.
#include "troupe/ops/image/shared/suppression.hpp"

namespace troupe::ops::non_max_suppression_v2_op {

extern constexpr op_def non_max_suppression_v2{
    .name = "NonMaxSuppressionV2",
    .doc = "Chooses boxes by their scores, best first, but none that overlaps a better one too "
           "much.\n\nOtherwise as NonMaxSuppression, with thresholds that are inputs.",
    .inputs = {{"boxes", "T"},
               {"scores", "T"},
               on_host("max_output_size", "i32"),
               {"iou_threshold", "T_threshold"}},
    .outputs = {{"selected_indices", "i32"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32},
              {"T_threshold", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .effects = data_dependent_shape,
    .infer = infer_suppression,
    .no_gradient = "its output are numbers of boxes",
    .example = R"(
y = NonMaxSuppressionV2(f32[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]], f32[0.8, 0.9, 0.1],
    i32(5), f32(0.5))
fetch y = i32[1, 2]
)",
};

} // namespace troupe::ops::non_max_suppression_v2_op
