// Pad: a tensor in a frame of zeros.
#include "troupe/ops/array/padding.hpp"
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto table, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto shape_of_table, merge(table, {at.input(0).rank(), 2}));
  auto dims = at.input(0);
  if (shape_of_table[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  if (!dims.has_rank()) {
    if (shape_of_table[0] > max_rank)
      return at.invalid("a tensor has at most ", max_rank, " axes, got ", shape_of_table[0]);
    return shapes{partial_shape::of_rank(static_cast<int>(shape_of_table[0]))};
  }
  auto paddings = at.integers(1);
  for (int axis = 0; axis < dims.rank(); ++axis) {
    auto extent = dims[axis];
    if (paddings && extent != unknown_extent) {
      auto i = 2 * static_cast<size_t>(axis);
      TROUPE_ASSIGN(extent, padded(extent, (*paddings)[i], (*paddings)[i + 1]));
    } else {
      extent = unknown_extent;
    }
    dims.set(axis, extent);
  }
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims.extents()));
  return shapes{checked};
}

edges gradient(gradient_context& at) {
  auto paddings = cast_to(at.input(1), dtype::i64);
  auto first =
      build("Slice", {paddings, integers_like(paddings, {0, 0}), integers_like(paddings, {-1, 1})});
  auto begin = reshaped(first, integers_like(paddings, {-1}));
  return {build("Slice", {at.output_gradient(0), begin, shape_of(at.input(0))}), {}};
}

} // namespace

extern constexpr op_def pad{
    .name = "Pad",
    .doc =
        "Puts paddings[i, 0] zeros before and paddings[i, 1] zeros behind the elements of axis i.",
    .inputs = {{"input", "T"}, {"paddings", "Tpaddings"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Pad(f32[[1, 2]], i32[[1, 0], [0, 2]])
fetch y = f32[[0, 0, 0, 0], [1, 2, 0, 0]]
)",
};

} // namespace troupe::ops
