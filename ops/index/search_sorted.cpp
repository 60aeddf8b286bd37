// Insertion positions of values in sorted rows.
#include "troupe/ops/index/shared/search_sorted.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::search_sorted_op {

extern constexpr op_def lower_bound{
    .name = "LowerBound",
    .doc = "Says of each value how many elements of the sorted row are less.\n\nEach row of values "
           "has a row of sorted_inputs, which must be in ascending order.",
    .inputs = {{"sorted_inputs", "T"}, {"values", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", real_numbers}, {"out_type", index_types, dtype::i32}},
    .infer = infer_bounds,
    .no_gradient = "places are whole numbers",
    .example = R"(
y = LowerBound(f32[[1, 2, 2, 5]], f32[[0, 2, 5]])
fetch y = i32[[0, 1, 3]]
)",
};

extern constexpr op_def upper_bound{
    .name = "UpperBound",
    .doc = "Says of each value how many elements of the sorted row are not greater.\n\n"
           "Each row of values has a row of sorted_inputs, which must be in ascending order.",
    .inputs = {{"sorted_inputs", "T"}, {"values", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", real_numbers}, {"out_type", index_types, dtype::i32}},
    .infer = infer_bounds,
    .no_gradient = "places are whole numbers",
    .example = R"(
y = UpperBound(f32[[1, 2, 2, 5]], f32[[0, 2, 5]])
fetch y = i32[[0, 3, 4]]
)",
};

extern constexpr op_def bucketize{
    .name = "Bucketize",
    .doc = "Counts for each element the boundaries that are not larger.\n\nBoundaries must not "
           "decrease. NaN lies behind all of them.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "i32"}},
    .attrs = {{"T", one_of(dtype::i32, dtype::i64, dtype::f32, dtype::f64)},
              {"boundaries", attr_kind::reals}},
    .infer = infer::same_as_input,
    .no_gradient = "counts are whole numbers and jump",
    .example = R"(
y = Bucketize(f32[[-5, 10000], [150, 10], [5, 100]]) boundaries=[0, 10, 100]
fetch y = i32[[0, 3], [3, 2], [1, 3]]
)",
};

} // namespace troupe::ops::search_sorted_op
