// ExpandDims: a tensor with one more axis.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

#include <algorithm>

namespace troupe::ops::expand_dims_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (at.input(1).has_rank() && at.input(1).elements() > 1)
    return at.invalid("dim must be one number, got shape ", at.input(1));
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{partial_shape::unknown()};
  auto axis = at.integers(1);
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.push_back(unknown_extent);
  if (axis && axis->size() == 1) {
    TROUPE_ASSIGN(auto before, resolve_axis(axis->front(), dims.rank() + 1));
    extents.pop_back();
    extents.insert(extents.begin() + before, 1);
  } else {
    std::ranges::fill(extents, unknown_extent);
  }
  TROUPE_ASSIGN(auto expanded, partial_shape::make(extents));
  return shapes{expanded};
}

edges gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0))), {}};
}

} // namespace

extern constexpr op_def expand_dims{
    .name = "ExpandDims",
    .doc = "Adds an axis of extent 1 in front of axis dim.\n\nA negative dim counts from the end: "
           "-1 adds the last axis. The memory is shared.",
    .inputs = {{"input", "T"}, on_host("dim", "Tdim")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tdim", index_types, dtype::i32}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = ExpandDims(f32[1, 2], i32(0))
z = ExpandDims(f32[1, 2], i32(-1))
fetch y = f32[[1, 2]]
fetch z = f32[[1], [2]]
)",
};

} // namespace troupe::ops::expand_dims_op
