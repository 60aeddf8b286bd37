// UpperBound: where values belong in sorted rows.
#include "troupe/ops/index/shared/search_sorted.hpp"

namespace troupe::ops::upper_bound_op {

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

} // namespace troupe::ops::upper_bound_op
