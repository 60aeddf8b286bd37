// Copies of a tensor whose slices at indices are updated.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops::tensor_scatter_op {
namespace {

// The gradient goes to the operand that the output equals; equal operands share it.
edges scatter_extreme_gradient(gradient_context& at) {
  auto x = at.input(0), indices = at.input(1), updates = at.input(2), y = at.output(0);
  attr_map policy{{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}};
  auto from_x = cast_to(build("Equal", {x, y}), x.type());
  auto gathered = build("GatherNd", {y, indices}, policy);
  auto from_updates = cast_to(build("Equal", {updates, gathered}), x.type());
  auto sharers = build("TensorScatterAdd", {from_x, indices, from_updates}, policy);
  auto share = at.output_gradient(0) / build("Maximum", {sharers, scalar_like(x, 1)});
  return {share * from_x, {}, build("GatherNd", {share, indices}, policy) * from_updates};
}

edges tensor_scatter_add_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto gathered = build("GatherNd", {dy, at.input(1)},
                        {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {dy, {}, gathered};
}

edges tensor_scatter_sub_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto gathered = build("GatherNd", {dy, at.input(1)},
                        {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {dy, {}, -gathered};
}

edges tensor_scatter_update_gradient(gradient_context& at) {
  auto indices = at.input(1), dy = at.output_gradient(0);
  attr_map policy{{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}};
  return {build("TensorScatterUpdate", {dy, indices, zeros_of(at.input(2))}, policy),
          {},
          build("GatherNd", {dy, indices}, policy)};
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
    .gradient = tensor_scatter_add_gradient,
    .example = R"(
y = TensorScatterAdd(f32[1, 2, 3], i32[[2], [0], [2]], f32[7, 8, 4])
fetch y = f32[9, 2, 14]
)",
};

extern constexpr op_def tensor_scatter_sub{
    .name = "TensorScatterSub",
    .doc = "Subtracts the updates from the blocks of a tensor whose leading coordinates the last "
           "axis of indices lists.\n\n"
           "Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their "
           "updates are left out.",
    .inputs = {{"tensor", "T"}, {"indices", "Tindices"}, {"updates", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .effects = effect::forwardable,
    .infer = infer_tensor_scatter,
    .gradient = tensor_scatter_sub_gradient,
    .example = R"(
y = TensorScatterSub(f32[1, 2, 3], i32[[2], [0], [2]], f32[7, 8, 4])
fetch y = f32[-7, 2, -8]
)",
};

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
    .gradient = tensor_scatter_update_gradient,
    .example = R"(
y = TensorScatterUpdate(f32[1, 2, 3], i32[[2], [0]], f32[7, 8])
fetch y = f32[8, 2, 7]
)",
};

} // namespace troupe::ops::tensor_scatter_op
