// Pack: tensors stacked along a new axis.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::pack_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

edges gradient(gradient_context& at) {
  auto first = build("Unpack", {at.output_gradient(0)},
                     {{"num", at.inputs()}, {"axis", at.attr<int64_t>("axis")}});
  edges parts;
  for (int i = 0; i < at.inputs(); ++i)
    parts.push_back({first.node, i});
  return parts;
}

} // namespace

extern constexpr op_def pack{
    .name = "Pack",
    .doc = "Stacks tensors of one shape along a new axis.\n\nThe new axis stands before axis "
           "`axis` of the values; a negative axis counts from the end.",
    .inputs = {{"values", "T", "N"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"axis", 0}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Pack(f32[1, 2], f32[3, 4])
z = Pack(f32[1, 2], f32[3, 4]) axis=1
fetch y = f32[[1, 2], [3, 4]]
fetch z = f32[[1, 3], [2, 4]]
)",
};

} // namespace troupe::ops::pack_op
