// ScatterDiv: divides rows.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_div_op {

extern constexpr op_def scatter_div = row_scatter({
    .name = "ScatterDiv",
    .doc = "Divides the rows of a variable that indices names by updates.\n\nRow i of updates "
           "goes to row indices[i]; a scalar goes to all elements of these rows. Rows that are "
           "named twice are divided twice; whole numbers by zero fail. An index outside of the "
           "variable fails, and changes nothing. Updates of one variable exclude each other; "
           "with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"use_locking", true}},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterDiv(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[0.1, 0.2], [3, 4], [0.025, 0.03]]
)",
});

} // namespace troupe::ops::scatter_div_op
