// Changes the elements of a variable that a slice selects.
#include "troupe/ops/index/shared/strides.hpp"

namespace troupe::ops::strided_slice_assign_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  TROUPE_ASSIGN(auto slices, infer_strided_slice(at, dims, 1));
  const auto& value = at.input(4);
  if (!slices[0].compatible(value))
    return at.invalid("the value must have the shape ", slices[0], " of the slice, got ", value);
  return shapes{dims};
}

} // namespace

extern constexpr op_def strided_slice_assign{
    .name = "StridedSliceAssign",
    .doc = "Replaces the elements of a variable that StridedSlice would take from it.\n\n"
           "The value must have the shape of the slice. Updates of one variable exclude each "
           "other.",
    .inputs = {ref("ref", "T"),
               on_host("begin", "Index"),
               on_host("end", "Index"),
               on_host("strides", "Index"),
               {"value", "T"}},
    .outputs = {ref("output_ref", "T")},
    .attrs = {{"T", any_type},
              {"Index", index_types},
              {"begin_mask", 0},
              {"end_mask", 0},
              {"ellipsis_mask", 0},
              {"new_axis_mask", 0},
              {"shrink_axis_mask", 0}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceStridedSliceAssign"},
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=f32 shape=[2, 3]
init = Assign(v, f32[[1, 2, 3], [4, 5, 6]])
# v[:, 1:] = [[10, 20], [30, 40]]
put = StridedSliceAssign(v, i32[0, 1], i32[0, 3], i32[1, 1],
                         f32[[10, 20], [30, 40]]) begin_mask=1 end_mask=1
target init
run
fetch put = f32[[1, 10, 20], [4, 30, 40]]
)",
};

} // namespace troupe::ops::strided_slice_assign_op
