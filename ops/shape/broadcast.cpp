// Broadcasting of tensors and of shapes.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

#include <algorithm>

namespace troupe::ops::broadcast_op {
namespace {

result<shapes> infer_broadcast_to(const infer_context& at) {
  TROUPE_ASSIGN(auto target_extents, listed_extents(at, 1));
  if (!target_extents.has_rank() || !at.input(0).has_rank())
    return shapes{target_extents};
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), target_extents));
  if (!joint.compatible(target_extents))
    return at.invalid("cannot stretch ", at.input(0), " to ", target_extents);
  return shapes{target_extents};
}

edges gradient(gradient_context& at) {
  return {unbroadcast(at.output_gradient(0), at.input(0), at.output(0)), {}};
}

edge simplify(simplify_context& at) {
  const auto& dims = at.input(0).dims();
  return dims.fully_known() && dims == at.output_shape() ? at.input(0) : edge{};
}

result<shapes> infer_broadcast_args(const infer_context& at) {
  TROUPE_ASSIGN(auto a, at.of_rank(0, 1));
  TROUPE_ASSIGN(auto b, at.of_rank(1, 1));
  if (a[0] == unknown_extent || b[0] == unknown_extent)
    return shapes{partial_shape::of_rank(1)};
  return shapes{{std::max(a[0], b[0])}};
}

result<shapes> infer_broadcast_gradient_args(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{partial_shape::of_rank(1), partial_shape::of_rank(1)};
}

} // namespace

extern constexpr op_def broadcast_to{
    .name = "BroadcastTo",
    .doc = "Repeats elements by NumPy's rules, so that the output has the shape that is listed.",
    .inputs = {{"input", "T"}, on_host("shape", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_broadcast_to,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = BroadcastTo(f32[[1], [2]], i32[2, 3])
fetch y = f32[[1, 1, 1], [2, 2, 2]]
)",
};

extern constexpr op_def broadcast_args{
    .name = "BroadcastArgs",
    .doc = "Gives the shape that tensors of the shapes s0 and s1 get when they are broadcast.",
    .inputs = {on_host("s0", "T"), on_host("s1", "T")},
    .outputs = {{"r0", "T"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer_broadcast_args,
    .no_gradient = "extents are whole numbers",
    .example = R"(
r = BroadcastArgs(i32[2, 1, 5], i32[3, 1])
fetch r = i32[2, 3, 5]
)",
};

extern constexpr op_def broadcast_gradient_args{
    .name = "BroadcastGradientArgs",
    .doc = "For the shapes s0 and s1 of two operands that were broadcast, gives the axes over "
           "which to sum the gradient of each.\n\nSummed over these axes and reshaped, it has the "
           "shape of the operand.",
    .inputs = {on_host("s0", "T"), on_host("s1", "T")},
    .outputs = {{"r0", "T"}, {"r1", "T"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer_broadcast_gradient_args,
    .no_gradient = "axes are whole numbers",
    .example = R"(
r0 = BroadcastGradientArgs(i32[2, 1, 5], i32[3, 1])
fetch r0 = i32[1]
fetch r0:1 = i32[0, 2]
)",
};

} // namespace troupe::ops::broadcast_op
