// Ops that change slices of variables at indices of several axes.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_nd_update_op {

extern constexpr op_def scatter_nd_add = element_scatter({
    .name = "ScatterNdAdd",
    .doc = "Adds updates to the elements or slices of a variable that indices names.\n\nThe "
           "last axis of indices lists coordinates of an element, or of a slice where there "
           "are fewer of them than axes; updates has an element or slice for each. What is "
           "named twice gets both. An index outside of the variable fails, and changes "
           "nothing; with bad_indices_policy=IGNORE it is passed over. Updates of one variable "
           "exclude each other; with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", numbers},
              {"Tindices", index_types},
              {"use_locking", true},
              {"bad_indices_policy", ""}},
    .by_handle = {.name = "ResourceScatterNdAdd"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdAdd(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 30, 20])
target init
run
fetch step = f32[[1, 32], [3, 4], [35, 6]]
)",
});

extern constexpr op_def scatter_nd_sub = element_scatter({
    .name = "ScatterNdSub",
    .doc = "Subtracts updates from the elements or slices of a variable that indices "
           "names.\n\nThe last axis of indices lists coordinates of an element, or of a slice "
           "where there are fewer of them than axes; updates has an element or slice for each. "
           "What is named twice gets both. An index outside of the variable fails, and changes "
           "nothing; with bad_indices_policy=IGNORE it is passed over. Updates of one variable "
           "exclude each other; with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T", numbers},
              {"Tindices", index_types},
              {"use_locking", true},
              {"bad_indices_policy", ""}},
    .by_handle = {.name = "ResourceScatterNdSub"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdSub(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 30, 20])
target init
run
fetch step = f32[[1, -28], [3, 4], [-25, 6]]
)",
});

extern constexpr op_def scatter_nd_update = element_scatter({
    .name = "ScatterNdUpdate",
    .doc = "Replaces the elements or slices of a variable that indices names by "
           "updates.\n\nThe last axis of indices lists coordinates of an element, or of a "
           "slice where there are fewer of them than axes; updates has an element or slice for "
           "each. Of what is named twice the last counts. An index outside of the variable "
           "fails, and changes nothing; with bad_indices_policy=IGNORE it is passed over. "
           "Updates of one variable exclude each other; with use_locking=false they race, as "
           "is TensorFlow's default.",
    .attrs = {{"T", any_type},
              {"Tindices", index_types},
              {"use_locking", true},
              {"bad_indices_policy", ""}},
    .by_handle = {.name = "ResourceScatterNdUpdate"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdUpdate(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 30, 20])
target init
run
fetch step = f32[[1, 20], [3, 4], [30, 6]]
)",
});

extern constexpr op_def scatter_nd_max = element_scatter({
    .name = "ScatterNdMax",
    .doc = "Replaces elements of a variable that indices names by those of updates where they are "
           "larger.\n\nThe last axis of indices lists coordinates of an element, or of a slice "
           "where there are fewer of them than axes; updates has an element or slice for each. An "
           "index outside of the variable fails, and changes nothing; with "
           "bad_indices_policy=IGNORE it is passed over. Updates of one variable exclude each "
           "other; with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T",
               one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64)},
              {"Tindices", index_types},
              {"use_locking", true},
              {"bad_indices_policy", ""}},
    .by_handle = {.name = "ResourceScatterNdMax"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdMax(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 0, 20])
target init
run
fetch step = f32[[1, 20], [3, 4], [5, 6]]
)",
});

extern constexpr op_def scatter_nd_min = element_scatter({
    .name = "ScatterNdMin",
    .doc = "Replaces elements of a variable that indices names by those of updates where they are "
           "smaller.\n\nThe last axis of indices lists coordinates of an element, or of a slice "
           "where there are fewer of them than axes; updates has an element or slice for each. An "
           "index outside of the variable fails, and changes nothing; with "
           "bad_indices_policy=IGNORE it is passed over. Updates of one variable exclude each "
           "other; with use_locking=false they race, as is TensorFlow's default.",
    .attrs = {{"T",
               one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64)},
              {"Tindices", index_types},
              {"use_locking", true},
              {"bad_indices_policy", ""}},
    .by_handle = {.name = "ResourceScatterNdMin"},
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdMin(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 0, 20])
target init
run
fetch step = f32[[1, 2], [3, 4], [0, 6]]
)",
});

} // namespace troupe::ops::scatter_nd_update_op
