// GatherNd: blocks of a tensor by their coordinates.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops::gather_nd_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto blocks, infer_named_blocks(at, at.input(1), at.input(0)));
  return shapes{blocks};
}

// Blocks that were taken several times get the sum.
edges gradient(gradient_context& at) {
  auto indices = at.input(1);
  auto extents = cast_to(shape_of(at.input(0)), indices.type());
  auto dx = build("ScatterNd", {indices, at.output_gradient(0), extents},
                  {{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}});
  return {dx, {}};
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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[1, 2], [3, 4]]
y = GatherNd(x, i32[[0, 0], [1, 1]])
z = GatherNd(x, i32[[1], [0], [1]])
fetch y = f32[1, 4]
fetch z = f32[[3, 4], [1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::gather_nd_op
