// ScatterMax: raises elements of rows.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_max_op {

extern constexpr op_def scatter_max = row_scatter({
    .name = "ScatterMax",
    .doc = "Replaces elements of the rows that indices names by those of updates where they "
           "are larger.\n\nRow i of updates goes to row indices[i]; a scalar goes to all "
           "elements of these rows. An index outside of the variable fails, and changes "
           "nothing. Updates of one variable exclude each other; with use_locking=false they "
           "race, as is TensorFlow's default.",
    .attrs = {{"T",
               one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64)},
              {"Tindices", index_types},
              {"use_locking", true}},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterMax(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[10, 10], [3, 4], [20, 20]]
)",
});

} // namespace troupe::ops::scatter_max_op
