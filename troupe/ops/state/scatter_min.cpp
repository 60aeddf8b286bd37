// ScatterMin: lowers elements of rows.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_min_op {

extern constexpr op_def scatter_min = row_scatter({
    .name = "ScatterMin",
    .doc = "Replaces elements of the rows that indices names by those of updates where they "
           "are smaller.\n\nRow i of updates goes to row indices[i]; a scalar goes to all "
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
step = ScatterMin(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[1, 2], [3, 4], [5, 6]]
)",
});

} // namespace troupe::ops::scatter_min_op
