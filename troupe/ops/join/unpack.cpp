// Unpack: the slices of a tensor along an axis.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::unpack_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  auto num = at.attr<int64_t>("num");
  if (!dims.has_rank())
    return shapes(static_cast<size_t>(num));
  TROUPE_ASSIGN(auto axis, resolve_axis(at.attr<int64_t>("axis"), dims.rank()));
  if (dims[axis] != num && dims[axis] != unknown_extent)
    return at.invalid("axis ", axis, " of ", dims, " has not the extent num=", num);
  axis_set gone;
  gone.set(static_cast<size_t>(axis));
  return shapes(static_cast<size_t>(num), without(dims, gone, false));
}

edges gradient(gradient_context& at) {
  std::vector<edge> parts;
  for (int64_t i = 0; i < at.attr<int64_t>("num"); ++i)
    parts.push_back(at.output_gradient(static_cast<int>(i)));
  return {build("Pack", parts, {{"axis", at.attr<int64_t>("axis")}})};
}

} // namespace

extern constexpr op_def unpack{
    .name = "Unpack",
    .doc = "Takes a tensor apart along an axis, which goes away.\n\nThe axis must have extent num. "
           "A negative axis counts from the end.",
    .inputs = {{"value", "T"}},
    .outputs = {{"output", "T", "num"}},
    .attrs = {{"num", at_least{0}}, {"T", any_type}, {"axis", 0}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Unpack(f32[[1, 2], [3, 4]]) num=2
fetch y = f32[1, 2]
fetch y:1 = f32[3, 4]
)",
};

} // namespace troupe::ops::unpack_op
