// Slices at indices of several axes: GatherNd reads them, ScatterNd writes them.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops::gather_nd_op {
namespace {

result<shapes> infer_gather_nd(const infer_context& at) {
  TROUPE_ASSIGN(auto blocks, infer_named_blocks(at, at.input(1), at.input(0)));
  return shapes{blocks};
}

// A block that was read several times gets the sum of its gradients.
edges gather_nd_gradient(gradient_context& at) {
  auto indices = at.input(1);
  auto extents = cast_to(shape_of(at.input(0)), indices.type());
  auto dx = build("ScatterNd", {indices, at.output_gradient(0), extents},
                  {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {dx, {}};
}

edges resource_gather_nd_gradient(gradient_context& at) {
  auto indices = at.input(1);
  auto extents = cast_to(shape_of(at.input(0)), indices.type());
  return {build("ScatterNd", {indices, at.output_gradient(0), extents}), {}};
}

result<shapes> infer_scatter_nd(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, 2));
  TROUPE_ASSIGN(auto blocks, infer_named_blocks(at, at.input(0), dims));
  TROUPE_TRY(merge(blocks, at.input(1)));
  return shapes{dims};
}

edges scatter_nd_gradient(gradient_context& at) {
  auto gathered_gradient =
      build("GatherNd", {at.output_gradient(0), at.input(0)},
            {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {{}, gathered_gradient, {}};
}

} // namespace

extern constexpr op_def gather_nd{
    .name = "GatherNd",
    .doc = "Takes the blocks of params whose leading coordinates the last axis of indices lists."
           "\n\nWith as many coordinates as params has axes, a block is one element. Coordinates "
           "outside of params fail; where bad_indices_policy is IGNORE, they give zeros.",
    .inputs = {{"params", "Tparams"}, {"indices", "Tindices"}},
    .outputs = {{"output", "Tparams"}},
    .attrs = {{"Tparams", any_type}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .infer = infer_gather_nd,
    .gradient = gather_nd_gradient,
    .example = R"(
x = f32[[1, 2], [3, 4]]
y = GatherNd(x, i32[[0, 0], [1, 1]])
z = GatherNd(x, i32[[1], [0], [1]])
fetch y = f32[1, 4]
fetch z = f32[[3, 4], [1, 2], [3, 4]]
)",
};

extern constexpr op_def resource_gather_nd{
    .name = "ResourceGatherNd",
    .doc = "Takes the blocks whose leading coordinates the last axis of indices lists, of a "
           "variable that is given by its handle.\n\nWith as many coordinates as the variable "
           "has axes, a block is one element. Coordinates outside of the variable fail. It is "
           "read where the node stands among its updates.",
    .inputs = {behind_handle("resource", "dtype"), {"indices", "Tindices"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"Tindices", index_types}},
    .infer = infer_gather_nd,
    .gradient = resource_gather_nd_gradient,
    .example = R"(
v = VarHandleOp dtype=f32 shape=[2, 2]
init = AssignVariableOp(v, f32[[1, 2], [3, 4]])
y = ResourceGatherNd(v, i32[[0, 0], [1, 1]])
target init
run
fetch y = f32[1, 4]
)",
};

extern constexpr op_def scatter_nd{
    .name = "ScatterNd",
    .doc =
        "Adds each update to the block of a tensor of zeros whose leading coordinates the last "
        "axis of indices lists.\n\nThe tensor has the listed shape. Updates for one block add "
        "up; texts are joined, truth values are true if any is. Coordinates outside of the shape "
        "fail; where bad_indices_policy is IGNORE, their updates are left out.",
    .inputs = {{"indices", "Tindices"}, {"updates", "T"}, on_host("shape", "Tindices")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tindices", index_types}, {"bad_indices_policy", ""}},
    .infer = infer_scatter_nd,
    .gradient = scatter_nd_gradient,
    .example = R"(
y = ScatterNd(i32[[3], [0], [3]], f32[1, 2, 4], i32[5])
z = ScatterNd(i32[[1]], f32[[1, 2]], i32[2, 2])
fetch y = f32[2, 0, 0, 5, 0]
fetch z = f32[[0, 0], [1, 2]]
)",
};

} // namespace troupe::ops::gather_nd_op
