// TensorScatterUpdate: a tensor with some blocks replaced.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops::tensor_scatter_update_op {
namespace {

edges gradient(gradient_context& at) {
  auto indices = at.input(1), dy = at.output_gradient(0);
  attr_map policy{{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}};
  return {build("TensorScatterUpdate", {dy, indices, zeros_of(at.input(2))}, policy),
          {},
          build("GatherNd", {dy, indices}, policy)};
}

} // namespace

extern constexpr op_def tensor_scatter_update{
    .name = "TensorScatterUpdate",
    .doc = "Replaces the blocks of a tensor whose leading coordinates the last axis of indices "
           "lists by the updates.\n\nOf several updates for one block the last stays. Coordinates "
           "outside of the tensor fail; where bad_indices_policy is IGNORE, their updates are left "
           "out.",
    .inputs = {{"tensor", "T"}, {"indices", "Tindices"}, {"updates", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .effects = effect::forwardable,
    .infer = infer_tensor_scatter,
    .gradient = gradient,
    .example = R"(
y = TensorScatterUpdate(f32[1, 2, 3], i32[[2], [0]], f32[7, 8])
fetch y = f32[8, 2, 7]
)",
};

} // namespace troupe::ops::tensor_scatter_update_op
