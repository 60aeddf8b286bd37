// ScatterUpdate: replaces rows.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_update_op {

extern constexpr op_def scatter_update = row_scatter({
    .name = "ScatterUpdate",
    .doc = "Replaces the rows of a variable that indices names by updates.\n\nRow i of updates "
           "goes to row indices[i]; a scalar goes to all elements of these rows. Of rows that "
           "are named twice the last counts. An index outside of the variable fails, and "
           "changes nothing. Updates of one variable exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", any_type}, {"Tindices", index_types}, {"use_locking", true}},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterUpdate(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[10, 10], [3, 4], [20, 20]]
)",
});

} // namespace troupe::ops::scatter_update_op
