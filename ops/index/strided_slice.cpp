// Slices of tensors: Slice by begin and size, StridedSlice by NumPy's rules.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/index/shared/strides.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::strided_slice_op {
namespace {

result<shapes> infer_slice(const infer_context& at) {
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
edges slice_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  auto leading_pad = cast_to(at.input(1), dtype::i64);
  auto trailing_pad = shape_of(x) - leading_pad - shape_of(dy);
  return {build("Pad", {dy, build("Pack", {leading_pad, trailing_pad}, {{"axis", 1}})}), {}, {}};
}

result<shapes> infer_slices(const infer_context& at) {
  return infer_strided_slice(at, at.input(0), 1);
}

edges strided_slice_gradient(gradient_context& at) {
  auto x = at.input(0);
  auto extents = build("Shape", {x}, {{"out_type", at.attr<dtype>("Index")}});
  auto dx = build("StridedSliceGrad",
                  {extents, at.input(1), at.input(2), at.input(3), at.output_gradient(0)},
                  attributes(slice_masks{at}));
  return {dx, {}, {}, {}};
}

result<shapes> infer_strided_slice_grad(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  TROUPE_ASSIGN(auto slices, infer_strided_slice(at, dims, 1));
  TROUPE_TRY(merge(slices[0], at.input(4)));
  return shapes{dims};
}

edges strided_slice_grad_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto sliced = build("StridedSlice", {dy, at.input(1), at.input(2), at.input(3)},
                      attributes(slice_masks{at}));
  return {{}, {}, {}, {}, sliced};
}

} // namespace

extern constexpr op_def slice{
    .name = "Slice",
    .doc = "Takes the block of extents size that starts at begin.\n\nA size of -1 takes all that "
           "is left of the axis.",
    .inputs = {{"input", "T"}, on_host("begin", "Index"), on_host("size", "Index")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Index", index_types}},
    .effects = effect::autocast_infer,
    .infer = infer_slice,
    .gradient = slice_gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Slice(x, i32[0, 1], i32[2, -1])
fetch y = f32[[2, 3], [5, 6]]
)",
};

extern constexpr op_def strided_slice{
    .name = "StridedSlice",
    .doc =
        "Takes the elements from begin up to, but not including, end in steps of strides.\n\n"
        "Item i of the three lists is about the next axis; negative places count from the end, and "
        "those beyond the axis mean its end. A negative stride goes backwards. Where bit i of a "
        "mask is set, item i means something else: with begin_mask and end_mask the axis is taken "
        "from its very start and to its end; with ellipsis_mask all axes that no other item names "
        "are taken whole; new_axis_mask adds an axis of extent 1; shrink_axis_mask takes the one "
        "element at begin, and the axis goes away.",
    .inputs = {{"input", "T"},
               on_host("begin", "Index"),
               on_host("end", "Index"),
               on_host("strides", "Index")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Index", index_types},
              {"begin_mask", 0},
              {"end_mask", 0},
              {"ellipsis_mask", 0},
              {"new_axis_mask", 0},
              {"shrink_axis_mask", 0}},
    .effects = effect::autocast_infer,
    .infer = infer_slices,
    .gradient = strided_slice_gradient,
    .example = R"(
x = f32[[1, 2, 3, 4], [5, 6, 7, 8]]
# x[:, 3:0:-2]
y = StridedSlice(x, i32[0, 3], i32[0, 0], i32[1, -2]) begin_mask=1 end_mask=1
fetch y = f32[[4, 2], [8, 6]]
# x[..., None, 1]
z = StridedSlice(x, i32[0, 0, 1], i32[0, 0, 0],
                 i32[1, 1, 1]) ellipsis_mask=1 new_axis_mask=2 shrink_axis_mask=4
fetch z = f32[[2], [6]]
)",
};

extern constexpr op_def strided_slice_grad{
    .name = "StridedSliceGrad",
    .doc = "Puts dy where StridedSlice would take it from in a tensor of the listed shape, which "
           "is zero elsewhere.",
    .inputs = {on_host("shape", "Index"),
               on_host("begin", "Index"),
               on_host("end", "Index"),
               on_host("strides", "Index"),
               {"dy", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Index", index_types},
              {"begin_mask", 0},
              {"end_mask", 0},
              {"ellipsis_mask", 0},
              {"new_axis_mask", 0},
              {"shrink_axis_mask", 0}},
    .effects = effect::autocast_infer,
    .infer = infer_strided_slice_grad,
    .gradient = strided_slice_grad_gradient,
    .example = R"(
y = StridedSliceGrad(i32[5], i32[1], i32[5], i32[2], f32[7, 8])
fetch y = f32[0, 7, 0, 8, 0]
)",
};

} // namespace troupe::ops::strided_slice_op
