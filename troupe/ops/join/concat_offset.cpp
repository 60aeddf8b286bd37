// ConcatOffset: where joined tensors begin.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::concat_offset_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto rank = partial_shape::of_rank(1);
  for (int i = 1; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(auto dims, at.of_rank(i, 1));
    TROUPE_ASSIGN(rank, merge(rank, dims));
  }
  return shapes(static_cast<size_t>(at.inputs() - 1), rank);
}

} // namespace

extern constexpr op_def concat_offset{
    .name = "ConcatOffset",
    .doc = "For tensors of the given shapes that are joined along axis concat_dim, says where in "
           "the result each begins.\n\nThe shapes must be the same but for that axis.",
    .inputs = {on_host("concat_dim", "i32"), on_host("shape", "shape_type", "N")},
    .outputs = {{"offset", "shape_type", "N"}},
    .attrs = {{"N", at_least{2}}, {"shape_type", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "places are whole numbers",
    .example = R"(
begin = ConcatOffset(i32(1), i32[2, 2], i32[2, 3], i32[2, 4])
fetch begin = i32[0, 0]
fetch begin:1 = i32[0, 2]
fetch begin:2 = i32[0, 5]
)",
};

} // namespace troupe::ops::concat_offset_op
