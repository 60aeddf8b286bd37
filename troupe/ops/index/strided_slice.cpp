// StridedSlice: what x[1:5:2, ..., None, 0] means.
#include "troupe/ops/index/shared/strides.hpp"

#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::strided_slice_op {
namespace {

result<shapes> infer(const infer_context& at) { return infer_strided_slice(at, at.input(0), 1); }

edges gradient(gradient_context& at) {
  auto x = at.input(0);
  auto extents = build("Shape", {x}, {{"out_type", at.attr<dtype>("Index")}});
  auto dx = build("StridedSliceGrad",
                  {extents, at.input(1), at.input(2), at.input(3), at.output_gradient(0)},
                  attributes(slice_masks{at}));
  return {dx, {}, {}, {}};
}

} // namespace

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
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
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

} // namespace troupe::ops::strided_slice_op
