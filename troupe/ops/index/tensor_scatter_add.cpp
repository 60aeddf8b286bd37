// TensorScatterAdd: updates added to blocks of a tensor.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops::tensor_scatter_add_op {
namespace {

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto taken = build("GatherNd", {dy, at.input(1)},
                     {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {dy, {}, taken};
}

} // namespace

extern constexpr op_def tensor_scatter_add{
    .name = "TensorScatterAdd",
    .doc = "Adds the updates to the blocks of a tensor whose leading coordinates the last axis of "
           "indices lists.\n\nCoordinates outside of the tensor fail; where bad_indices_policy is "
           "IGNORE, their updates are left out.",
    .inputs = {{"tensor", "T"}, {"indices", "Tindices"}, {"updates", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .effects = effect::forwardable,
    .infer = infer_tensor_scatter,
    .gradient = gradient,
    .example = R"(
y = TensorScatterAdd(f32[1, 2, 3], i32[[2], [0], [2]], f32[7, 8, 4])
fetch y = f32[9, 2, 14]
)",
};

} // namespace troupe::ops::tensor_scatter_add_op
