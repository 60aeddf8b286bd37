// NonMaxSuppression: boxes of high scores that overlap little. The versions differ in which
// parameters are inputs.
#include "troupe/ops/image/shared/suppression.hpp"

namespace troupe::ops::non_max_suppression_op {

extern constexpr op_def non_max_suppression{
    .name = "NonMaxSuppression",
    .doc = "Chooses boxes by their scores, best first, but none that overlaps a better one too "
           "much.\n\n"
           "A box is two opposite corners, [y1, x1, y2, x2]. The overlap of two boxes is the area "
           "that they share, divided by the area of both together; it may be iou_threshold. The "
           "output has the numbers of at most max_output_size boxes. Scores that are NaN are never "
           "chosen.",
    .inputs = {{"boxes", "f32"}, {"scores", "f32"}, on_host("max_output_size", "i32")},
    .outputs = {{"selected_indices", "i32"}},
    .attrs = {{"iou_threshold", 0.5}},
    .effects = effect::data_dependent_shape,
    .infer = infer_suppression,
    .no_gradient = "its output are numbers of boxes",
    .example = R"(
y = NonMaxSuppression(f32[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]], f32[0.8, 0.9, 0.1], i32(5))
fetch y = i32[1, 2]
)",
};

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
    .effects = effect::data_dependent_shape,
    .infer = infer_suppression,
    .no_gradient = "its output are numbers of boxes",
    .example = R"(
y = NonMaxSuppressionV2(f32[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]], f32[0.8, 0.9, 0.1],
    i32(5), f32(0.5))
fetch y = i32[1, 2]
)",
};

extern constexpr op_def non_max_suppression_v3{
    .name = "NonMaxSuppressionV3",
    .doc = "Chooses boxes by their scores, best first, but none that overlaps a better one too "
           "much, nor any whose score is not above a threshold.\n\nOtherwise as NonMaxSuppression, "
           "with thresholds that are inputs.",
    .inputs = {{"boxes", "T"},
               {"scores", "T"},
               on_host("max_output_size", "i32"),
               {"iou_threshold", "T_threshold"},
               {"score_threshold", "T_threshold"}},
    .outputs = {{"selected_indices", "i32"}},
    .attrs = {{"T", one_of(dtype::f16, dtype::f32), dtype::f32},
              {"T_threshold", one_of(dtype::f16, dtype::f32), dtype::f32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_suppression,
    .no_gradient = "its output are numbers of boxes",
    .example = R"(
y = NonMaxSuppressionV3(f32[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]], f32[0.8, 0.9, 0.1],
    i32(5), f32(0.5), f32(0.5))
fetch y = i32[1]
)",
};

} // namespace troupe::ops::non_max_suppression_op
