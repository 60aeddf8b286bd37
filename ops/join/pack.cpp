// Stacks tensors along a new axis, and unstacks them.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::pack_op {
namespace {

result<shapes> infer_pack(const infer_context& at) {
  auto joint = at.input(0);
  for (int i = 1; i < at.inputs(); ++i) {
    auto merged = merge(joint, at.input(i));
    if (!merged)
      return at.invalid("all values must have one shape, got ", joint, " and ", at.input(i));
    joint = *std::move(merged);
  }
  if (!joint.has_rank())
    return shapes{joint};
  TROUPE_ASSIGN(auto axis, resolve_axis(at.attr<int64_t>("axis"), joint.rank() + 1));
  std::vector<int64_t> extents{joint.extents().begin(), joint.extents().end()};
  extents.insert(extents.begin() + axis, at.inputs());
  TROUPE_ASSIGN(auto dims, partial_shape::make(extents));
  return shapes{dims};
}

edges pack_gradient(gradient_context& at) {
  auto first = build("Unpack", {at.output_gradient(0)},
                     {{"num", at.inputs()}, {"axis", at.attr<int64_t>("axis")}});
  edges parts;
  for (int i = 0; i < at.inputs(); ++i)
    parts.push_back({first.node, i});
  return parts;
}

result<shapes> infer_unpack(const infer_context& at) {
  const auto& dims = at.input(0);
  auto num = at.attr<int64_t>("num");
  if (!dims.has_rank())
    return shapes(static_cast<size_t>(num));
  TROUPE_ASSIGN(auto axis, resolve_axis(at.attr<int64_t>("axis"), dims.rank()));
  if (dims[axis] != num && dims[axis] != unknown_extent)
    return at.invalid("axis ", axis, " of ", dims, " has not the extent num=", num);
  axis_set removed_axes;
  removed_axes.set(static_cast<size_t>(axis));
  return shapes(static_cast<size_t>(num), without(dims, removed_axes, false));
}

edges unpack_gradient(gradient_context& at) {
  std::vector<edge> parts;
  for (int64_t i = 0; i < at.attr<int64_t>("num"); ++i)
    parts.push_back(at.output_gradient(static_cast<int>(i)));
  return {build("Pack", parts, {{"axis", at.attr<int64_t>("axis")}})};
}

} // namespace

extern constexpr op_def pack{
    .name = "Pack",
    .doc = "Stacks tensors of one shape along a new axis.\n\nThe new axis stands before axis "
           "`axis` of the values; a negative axis counts from the end.",
    .inputs = {{"values", "T", "N"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"axis", 0}},
    .effects = effect::autocast_infer,
    .infer = infer_pack,
    .gradient = pack_gradient,
    .example = R"(
y = Pack(f32[1, 2], f32[3, 4])
z = Pack(f32[1, 2], f32[3, 4]) axis=1
fetch y = f32[[1, 2], [3, 4]]
fetch z = f32[[1, 3], [2, 4]]
)",
};

extern constexpr op_def unpack{
    .name = "Unpack",
    .doc = "Takes a tensor apart along an axis, which goes away.\n\nThe axis must have extent num. "
           "A negative axis counts from the end.",
    .inputs = {{"value", "T"}},
    .outputs = {{"output", "T", "num"}},
    .attrs = {{"num", at_least{0}}, {"T", any_type}, {"axis", 0}},
    .effects = effect::autocast_infer,
    .infer = infer_unpack,
    .gradient = unpack_gradient,
    .example = R"(
y = Unpack(f32[[1, 2], [3, 4]]) num=2
fetch y = f32[1, 2]
fetch y:1 = f32[3, 4]
)",
};

} // namespace troupe::ops::pack_op
