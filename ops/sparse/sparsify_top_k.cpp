// Gradient compression: only the greatest elements are sent; the others are accumulated for later
// steps (Aji and Heafield 2017, Stich et al. 2018).
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparsify_top_k_op {
namespace {

result<shapes> infer_sparsify(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  const auto &residual = at.input(0), &gradient = at.input(1);
  auto joint = merge(residual, gradient);
  if (!joint)
    return at.invalid("the residual has shape ", residual, ", the gradient ", gradient);
  auto count = unknown_extent;
  if (auto k = at.integers(2)) {
    count = k->front();
    if (count < 0 || (joint->fully_known() && count > joint->known().elements()))
      return at.invalid("k must be from 0 to the number of elements of ", *joint, ", got ", count);
  }
  return shapes{partial_shape{count}, partial_shape{count}};
}

result<shapes> infer_densify(const infer_context& at) {
  for (int i = 0; i < 2; ++i)
    TROUPE_TRY(at.of_rank(i, 1));
  if (!merge(at.input(0), at.input(1)))
    return at.invalid("there are values of shape ", at.input(0), " at positions of shape ",
                      at.input(1));
  TROUPE_ASSIGN(auto dims, listed_extents(at, 2));
  return shapes{dims};
}

} // namespace

extern constexpr op_def sparsify_top_k{
    .name = "SparsifyTopK",
    .doc = "Adds a gradient to a residual, and takes out the k elements of the greatest "
           "magnitude.\n\nGives their values and their positions among all elements, in rising "
           "order; the rest stays in the residual, for later steps (error feedback). Of equal "
           "magnitudes the first are taken; a NaN counts as greater than every number. What was "
           "taken out is gone from the residual, also if the step fails later. Elements are "
           "counted in i32: there may be 2,147,483,647. DensifyTopK makes a gradient of it again.",
    .inputs = {ref("residual", "T"), {"gradient", "T"}, on_host("k", "i64")},
    .outputs = {{"values", "T"}, {"positions", "i32"}},
    .attrs = {{"T", floating}},
    .effects = effect::stateful,
    .infer = infer_sparsify,
    .no_gradient = "state does not carry gradients",
    .example = R"(
rest = VariableV2 dtype=f32 shape=[2, 2]
init = Assign(rest, f32[[0, 1], [0, 0]])
top = SparsifyTopK(rest, f32[[1, 1], [-3, 0.5]], i64(2))
target init
run
fetch top = f32[2, -3]
fetch top:1 = i32[1, 2]
run
fetch rest = f32[[1, 0], [0, 0.5]]
)",
};

extern constexpr op_def densify_top_k{
    .name = "DensifyTopK",
    .doc = "Makes a tensor that is zero but for the values at some positions among its "
           "elements.\n\nWhat comes for one position twice is added up. A position outside fails.",
    .inputs = {{"values", "T"}, {"positions", "i32"}, on_host("shape", "i64")},
    .outputs = {{"gradient", "T"}},
    .attrs = {{"T", floating}},
    .infer = infer_densify,
    .no_gradient = "what it gives is a gradient",
    .example = R"(
y = DensifyTopK(f32[2, -3], i32[1, 2], i64[2, 2])
fetch y = f32[[0, 2], [-3, 0]]
)",
};

} // namespace troupe::ops::sparsify_top_k_op
