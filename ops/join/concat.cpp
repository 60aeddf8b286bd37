// Concatenation of tensors along an axis. Concat and ConcatV2 differ in the order of inputs.
#include "troupe/ops/join/shared/concat.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::concat_op {
namespace {

result<shapes> infer_concat(const infer_context& at) { return infer_concatenation(at, 0, 1); }

edges concat_gradient(gradient_context& at) { return concatenation_gradient(at, 0, 1); }

result<shapes> infer_concat_v2(const infer_context& at) {
  return infer_concatenation(at, at.inputs() - 1, 0);
}

edges concat_v2_gradient(gradient_context& at) {
  return concatenation_gradient(at, at.inputs() - 1, 0);
}

result<shapes> infer_concat_offset(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto rank = partial_shape::of_rank(1);
  for (int i = 1; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(auto dims, at.of_rank(i, 1));
    TROUPE_ASSIGN(rank, merge(rank, dims));
  }
  return shapes(static_cast<size_t>(at.inputs() - 1), rank);
}

} // namespace

extern constexpr op_def concat{
    .name = "Concat",
    .doc = "Joins tensors along an axis; their other extents are the same.\n\nThe axis is the "
           "first input.",
    .inputs = {on_host("concat_dim", "i32"), {"values", "T", "N"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}},
    .effects = effect::autocast_infer,
    .infer = infer_concat,
    .gradient = concat_gradient,
    .example = R"(
y = Concat(i32(0), f32[[1, 2]], f32[[3, 4], [5, 6]])
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

extern constexpr op_def concat_v2{
    .name = "ConcatV2",
    .doc = "Joins tensors along an axis; their other extents are the same.\n\nThe axis is the last "
           "input.",
    .inputs = {{"values", "T", "N"}, on_host("axis", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_concat_v2,
    .gradient = concat_v2_gradient,
    .example = R"(
y = ConcatV2(f32[[1, 2]], f32[[3, 4], [5, 6]], i32(0))
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

extern constexpr op_def concat_offset{
    .name = "ConcatOffset",
    .doc = "For tensors of the given shapes that are joined along axis concat_dim, says where in "
           "the result each begins.\n\nThe shapes must be the same but for that axis.",
    .inputs = {on_host("concat_dim", "i32"), on_host("shape", "shape_type", "N")},
    .outputs = {{"offset", "shape_type", "N"}},
    .attrs = {{"N", at_least{2}}, {"shape_type", index_types, dtype::i32}},
    .infer = infer_concat_offset,
    .no_gradient = "places are whole numbers",
    .example = R"(
begin = ConcatOffset(i32(1), i32[2, 2], i32[2, 3], i32[2, 4])
fetch begin = i32[0, 0]
fetch begin:1 = i32[0, 2]
fetch begin:2 = i32[0, 5]
)",
};

} // namespace troupe::ops::concat_op
