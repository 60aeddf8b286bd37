// Combines rows with the same number; the numbers are sorted.
#include "troupe/ops/segment/shared/segments.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::segment_op {
namespace {

// A row's share of the gradient is divided by the number of rows with its number.
edges gradient(gradient_context& at) {
  auto ids = at.input(1), dy = at.output_gradient(0);
  auto ones = cast_to(build("OnesLike", {ids}), dy.type());
  auto counts = build("SegmentSum", {ones, ids});
  return {build("Gather", {dy / for_each_row(counts, dy), ids}), {}};
}

} // namespace

extern constexpr op_def segment_sum{
    .name = "SegmentSum",
    .doc = "Adds up the rows of data that have the same number in segment_ids.\n\nThe numbers must "
           "not decrease. Row i of the output comes from the rows numbered i, or is zeros if there "
           "are none. The last number plus one is the number of rows of the output.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_sum_gradient,
    .example = R"(
y = SegmentSum(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[4, 6], [5, 6]]
)",
};

extern constexpr op_def segment_mean{
    .name = "SegmentMean",
    .doc = "Takes the mean of the rows of data that have the same number in segment_ids.\n\nThe "
           "numbers must not decrease. Row i of the output comes from the rows numbered i, or is "
           "zeros if there are none. The last number plus one is the number of rows of the output. "
           "The mean of whole numbers is rounded towards zero.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = gradient,
    .example = R"(
y = SegmentMean(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[2, 3], [5, 6]]
)",
};

extern constexpr op_def segment_prod{
    .name = "SegmentProd",
    .doc = "Multiplies the rows of data that have the same number in segment_ids.\n\nThe numbers "
           "must not decrease. Row i of the output comes from the rows numbered i, or is ones if "
           "there are none. The last number plus one is the number of rows of the output.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_product_gradient,
    .example = R"(
y = SegmentProd(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[3, 8], [5, 6]]
)",
};

extern constexpr op_def segment_max{
    .name = "SegmentMax",
    .doc = "Takes the largest of the rows of data that have the same number in segment_ids.\n\nThe "
           "numbers must not decrease. Row i of the output comes from the rows numbered i, element "
           "by element, or is zeros if there are none. The last number plus one is the number of "
           "rows of the output. Elements that are equally large share the gradient.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers}, {"Tindices", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_extreme_gradient,
    .example = R"(
y = SegmentMax(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[3, 4], [5, 6]]
)",
};

extern constexpr op_def segment_min{
    .name = "SegmentMin",
    .doc =
        "Takes the smallest of the rows of data that have the same number in segment_ids.\n\nThe "
        "numbers must not decrease. Row i of the output comes from the rows numbered i, element by "
        "element, or is zeros if there are none. The last number plus one is the number of rows of "
        "the output. Elements that are equally small share the gradient.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers}, {"Tindices", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_sorted_segments,
    .gradient = segment_extreme_gradient,
    .example = R"(
y = SegmentMin(f32[[1, 2], [3, 4], [5, 6]], i32[0, 0, 1])
fetch y = f32[[1, 2], [5, 6]]
)",
};

} // namespace troupe::ops::segment_op
