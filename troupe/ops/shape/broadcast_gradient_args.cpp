// BroadcastGradientArgs: the axes that a gradient is summed over.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::broadcast_gradient_args_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{partial_shape::of_rank(1), partial_shape::of_rank(1)};
}

} // namespace

extern constexpr op_def broadcast_gradient_args{
    .name = "BroadcastGradientArgs",
    .doc = "For the shapes s0 and s1 of two operands that were broadcast, gives the axes over "
           "which to sum the gradient of each.\n\nSummed over these axes and reshaped, it has the "
           "shape of the operand.",
    .inputs = {on_host("s0", "T"), on_host("s1", "T")},
    .outputs = {{"r0", "T"}, {"r1", "T"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "axes are whole numbers",
    .example = R"(
r0 = BroadcastGradientArgs(i32[2, 1, 5], i32[3, 1])
fetch r0 = i32[1]
fetch r0:1 = i32[0, 2]
)",
};

} // namespace troupe::ops::broadcast_gradient_args_op
