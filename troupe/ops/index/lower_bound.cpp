// LowerBound: where values belong in sorted rows.
#include "troupe/ops/index/shared/search_sorted.hpp"

namespace troupe::ops::lower_bound_op {

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

} // namespace troupe::ops::lower_bound_op
