// StridedSliceGrad: a slice put back to where StridedSlice took it from.
#include "troupe/ops/index/shared/strides.hpp"

#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::strided_slice_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  TROUPE_ASSIGN(auto slices, infer_strided_slice(at, dims, 1));
  TROUPE_TRY(merge(slices[0], at.input(4)));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto taken = build("StridedSlice", {dy, at.input(1), at.input(2), at.input(3)},
                     attributes(slice_masks{at}));
  return {{}, {}, {}, {}, taken};
}

} // namespace

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
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = StridedSliceGrad(i32[5], i32[1], i32[5], i32[2], f32[7, 8])
fetch y = f32[0, 7, 0, 8, 0]
)",
};

} // namespace troupe::ops::strided_slice_grad_op
