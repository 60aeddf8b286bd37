// Slice: a block of a tensor.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::slice_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  TROUPE_ASSIGN(auto begins, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto sizes, at.of_rank(2, 1));
  TROUPE_ASSIGN(auto rank, merge(begins, sizes));
  if (dims.has_rank()) {
    auto listed = rank[0];
    rank.set(0, dims.rank());
    if (listed != unknown_extent && listed != rank[0])
      return at.invalid("begin and size must list ", rank[0], " axes, got ", listed);
  }
  if (rank[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  if (rank[0] > max_rank)
    return at.invalid("a tensor has at most ", max_rank, " axes, got ", rank[0]);
  TROUPE_ASSIGN(auto out, listed_shape(at, 2));
  if (!out.has_rank())
    out = partial_shape::of_rank(static_cast<int>(rank[0]));
  auto begin = at.integers(1), size = at.integers(2);
  for (int axis = 0; begin && dims.has_rank() && axis < dims.rank(); ++axis) {
    auto first = (*begin)[static_cast<size_t>(axis)], extent = dims[axis];
    if (first < 0 || (extent != unknown_extent && (first > extent || out[axis] > extent - first)))
      return at.invalid("begin ", first, " with size ", out[axis], " is outside of axis ", axis,
                        " of ", dims);
    if (size && out[axis] == unknown_extent && extent != unknown_extent)
      out.set(axis, extent - first);
  }
  return shapes{out};
}

// The gradient is zero outside of the block.
edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  auto before = cast_to(at.input(1), dtype::i64);
  auto after = shape_of(x) - before - shape_of(dy);
  return {build("Pad", {dy, build("Pack", {before, after}, {{"axis", 1}})}), {}, {}};
}

} // namespace

extern constexpr op_def slice{
    .name = "Slice",
    .doc = "Takes the block of extents size that starts at begin.\n\nA size of -1 takes all that "
           "is left of the axis.",
    .inputs = {{"input", "T"}, on_host("begin", "Index"), on_host("size", "Index")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Index", index_types}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Slice(x, i32[0, 1], i32[2, -1])
fetch y = f32[[2, 3], [5, 6]]
)",
};

} // namespace troupe::ops::slice_op
