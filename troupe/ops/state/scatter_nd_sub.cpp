// ScatterNdSub: subtracts from elements or slices.
#include "troupe/ops/state/shared/scatter.hpp"

namespace troupe::ops::scatter_nd_sub_op {

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
    .example = R"(
v = VariableV2 dtype=f32 shape=[3, 2]
init = Assign(v, f32[[1, 2], [3, 4], [5, 6]])
step = ScatterNdSub(v, i32[[0, 1], [2, 0], [0, 1]], f32[10, 30, 20])
target init
run
fetch step = f32[[1, -28], [3, 4], [-25, 6]]
)",
});

} // namespace troupe::ops::scatter_nd_sub_op
