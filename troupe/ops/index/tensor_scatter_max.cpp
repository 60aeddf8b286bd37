// TensorScatterMax: blocks of a tensor, where updates are not greater.
#include "troupe/ops/index/shared/scatter_extreme.hpp"

namespace troupe::ops::tensor_scatter_max_op {

extern constexpr op_def tensor_scatter_max{
    .name = "TensorScatterMax",
    .doc =
        "Replaces elements of a tensor by those of the updates that are greater.\n\nThe last axis "
        "of indices lists the leading coordinates of the block that an update is for. "
        "Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their "
        "updates are left out.",
    .inputs = {{"tensor", "T"}, {"indices", "Tindices"}, {"updates", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .effects = effect::forwardable,
    .infer = infer_tensor_scatter,
    .gradient = scatter_extreme_gradient,
    .example = R"(
y = TensorScatterMax(f32[1, 2, 3], i32[[2], [1], [1]], f32[7, -8, 4])
fetch y = f32[1, 4, 7]
)",
};

} // namespace troupe::ops::tensor_scatter_max_op
