// Split: equal parts along an axis.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::split_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto dims = at.input(1);
  auto parts = at.attr<int64_t>("num_split");
  auto axis = at.integers(0);
  if (dims.has_rank() && axis) {
    TROUPE_ASSIGN(auto along, resolve_axis(axis->front(), dims.rank()));
    auto extent = dims[along];
    if (extent != unknown_extent && extent % parts != 0)
      return at.invalid("axis ", along, " of ", dims, " cannot be cut into ", parts,
                        " equal parts");
    dims.set(along, extent == unknown_extent ? extent : extent / parts);
  } else if (dims.has_rank()) {
    dims = partial_shape::of_rank(dims.rank());
  }
  return shapes(static_cast<size_t>(parts), dims);
}

edges gradient(gradient_context& at) {
  std::vector<edge> parts{at.input(0)};
  for (int64_t i = 0; i < at.attr<int64_t>("num_split"); ++i)
    parts.push_back(at.output_gradient(static_cast<int>(i)));
  return {{}, build("Concat", parts)};
}

} // namespace

extern constexpr op_def split{
    .name = "Split",
    .doc = "Cuts a tensor along axis split_dim into num_split parts of equal extent.",
    .inputs = {on_host("split_dim", "i32"), {"value", "T"}},
    .outputs = {{"output", "T", "num_split"}},
    .attrs = {{"num_split", at_least{1}}, {"T", any_type}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Split(i32(1), f32[[1, 2], [3, 4]]) num_split=2
fetch y = f32[[1], [3]]
fetch y:1 = f32[[2], [4]]
)",
};

} // namespace troupe::ops::split_op
