// BroadcastArgs: the shape of two operands that are broadcast.
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops::broadcast_args_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto a, at.of_rank(0, 1));
  TROUPE_ASSIGN(auto b, at.of_rank(1, 1));
  if (a[0] == unknown_extent || b[0] == unknown_extent)
    return shapes{partial_shape::of_rank(1)};
  return shapes{{std::max(a[0], b[0])}};
}

} // namespace

extern constexpr op_def broadcast_args{
    .name = "BroadcastArgs",
    .doc = "Gives the shape that tensors of the shapes s0 and s1 get when they are broadcast.",
    .inputs = {on_host("s0", "T"), on_host("s1", "T")},
    .outputs = {{"r0", "T"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "extents are whole numbers",
    .example = R"(
r = BroadcastArgs(i32[2, 1, 5], i32[3, 1])
fetch r = i32[2, 3, 5]
)",
};

} // namespace troupe::ops::broadcast_args_op
