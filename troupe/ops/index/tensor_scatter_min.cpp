// TensorScatterMin: blocks of a tensor, where updates are not less.
#include "troupe/ops/index/shared/scatter_extreme.hpp"

namespace troupe::ops::tensor_scatter_min_op {

extern constexpr op_def tensor_scatter_min{
    .name = "TensorScatterMin",
    .doc = "Replaces elements of a tensor by those of the updates that are less.\n\nThe last axis "
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
y = TensorScatterMin(f32[1, 2, 3], i32[[2], [1], [1]], f32[7, -8, 4])
fetch y = f32[1, -8, 3]
)",
};

} // namespace troupe::ops::tensor_scatter_min_op
