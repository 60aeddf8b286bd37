// Ops that change rows of variables.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_op {

extern constexpr op_def scatter_add = row_scatter({
    .name = "ScatterAdd",
    .doc = "Adds updates to the rows of a variable that indices names.\n\nRow i of updates "
           "goes to row indices[i]; a scalar goes to all elements of these rows. Rows that are "
           "named twice get both. An index outside of the variable fails, and changes nothing. "
           "Updates of one variable exclude each other; with use_locking=false they race, as "
           "is TensorFlow's default.",
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"use_locking", true}},
    .by_handle = {.name = "ResourceScatterAdd"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterAdd(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[11, 12], [3, 4], [35, 36]]
)",
});

extern constexpr op_def scatter_sub = row_scatter({
    .name = "ScatterSub",
    .doc = "Subtracts updates from the rows of a variable that indices names.\n\nRow i of "
           "updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows "
           "that are named twice get both. An index outside of the variable fails, and changes "
           "nothing. Updates of one variable exclude each other; with use_locking=false they "
           "race, as is TensorFlow's default.",
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"use_locking", true}},
    .by_handle = {.name = "ResourceScatterSub"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterSub(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[-9, -8], [3, 4], [-25, -24]]
)",
});

extern constexpr op_def scatter_mul = row_scatter({
    .name = "ScatterMul",
    .doc = "Multiplies the rows of a variable that indices names by updates.\n\nRow i of "
           "updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows "
           "that are named twice get both. An index outside of the variable fails, and changes "
           "nothing. Updates of one variable exclude each other; with use_locking=false they "
           "race, as is TensorFlow's default.",
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"use_locking", true}},
    .by_handle = {.name = "ResourceScatterMul"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterMul(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[10, 20], [3, 4], [1000, 1200]]
)",
});

extern constexpr op_def scatter_div = row_scatter({
    .name = "ScatterDiv",
    .doc = "Divides the rows of a variable that indices names by updates.\n\nRow i of updates "
           "goes to row indices[i]; a scalar goes to all elements of these rows. Rows that are "
           "named twice are divided twice; whole numbers by zero fail. An index outside of the "
           "variable fails, and changes nothing. Updates of one variable exclude each other; "
           "with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"use_locking", true}},
    .by_handle = {.name = "ResourceScatterDiv"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterDiv(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[0.1, 0.2], [3, 4], [0.025, 0.03]]
)",
});

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
    .by_handle = {.name = "ResourceScatterMax"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterMax(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[10, 10], [3, 4], [20, 20]]
)",
});

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
    .by_handle = {.name = "ResourceScatterMin"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterMin(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[1, 2], [3, 4], [5, 6]]
)",
});

extern constexpr op_def scatter_update = row_scatter({
    .name = "ScatterUpdate",
    .doc = "Replaces the rows of a variable that indices names by updates.\n\nRow i of updates "
           "goes to row indices[i]; a scalar goes to all elements of these rows. Of rows that "
           "are named twice the last counts. An index outside of the variable fails, and "
           "changes nothing. Updates of one variable exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", any_type}, {"Tindices", index_types}, {"use_locking", true}},
    .by_handle = {.name = "ResourceScatterUpdate"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterUpdate(v, i32[2, 0, 2], f32[[10, 10], [10, 10], [20, 20]])
target init
run
fetch step = f32[[10, 10], [3, 4], [20, 20]]
)",
});

} // namespace troupe::ops::scatter_op
