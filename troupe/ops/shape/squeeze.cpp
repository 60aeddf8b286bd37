// Squeeze: a tensor without axes of extent 1.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::squeeze_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  const auto& listed = at.attr<std::vector<int64_t>>("squeeze_dims");
  if (!dims.has_rank() || (listed.empty() && !dims.fully_known()))
    return shapes{partial_shape::unknown()};
  TROUPE_ASSIGN(auto axes, axes_of(listed, dims.rank()));
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (listed.empty())
      axes.set(static_cast<size_t>(axis), dims[axis] == 1);
    else if (axes[static_cast<size_t>(axis)] && dims[axis] != 1 && dims[axis] != unknown_extent)
      return at.invalid("cannot remove axis ", axis, " of ", dims, ": its extent is not 1");
  return shapes{without(dims, axes, false)};
}

edges gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0)))};
}

} // namespace

extern constexpr op_def squeeze{
    .name = "Squeeze",
    .doc = "Removes the axes in squeeze_dims, whose extent must be 1; by default all axes of "
           "extent 1.\n\nThe memory is shared.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"squeeze_dims", attr_kind::integers, true}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Squeeze(f32[[[1], [2]]])
z = Squeeze(f32[[[1], [2]]]) squeeze_dims=[-1]
fetch y = f32[1, 2]
fetch z = f32[[1, 2]]
)",
};

} // namespace troupe::ops::squeeze_op
