// UniqueV2: the different slices of a tensor along an axis.
#include "troupe/ops/sets/shared/unique_slices.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::unique_v2_op {

extern constexpr op_def unique_v2{
    .name = "UniqueV2",
    .doc = "Lists the different slices of a tensor along an axis, in the order in which they first "
           "appear.\n\nSlice i of x is slice idx[i] of y. The axis may be missing for a vector.",
    .inputs = {{"x", "T"}, on_host("axis", "Taxis")},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type},
              {"Taxis", index_types, dtype::i64},
              {"out_idx", index_types, dtype::i32}},
    .effects = data_dependent_shape,
    .infer = infer_unique_slices,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueV2(i32[[1, 0, 1], [2, 0, 2]], i64[1])
fetch y = i32[[1, 0], [2, 0]]
fetch y:1 = i32[0, 1, 0]
)",
};

} // namespace troupe::ops::unique_v2_op
