// SpaceToBatch: the places in blocks of a tensor as parts of its batch.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::space_to_batch_op {
namespace {

result<shapes> infer(const infer_context& at) {
  return infer_square_batching(at, batching::space_to_batch);
}

edges gradient(gradient_context& at) {
  return {build("BatchToSpace", {at.output_gradient(0), at.input(1)},
                {{"block_size", at.attr<int64_t>("block_size")}}),
          {}};
}

} // namespace

extern constexpr op_def space_to_batch{
    .name = "SpaceToBatch",
    .doc = "Does what SpaceToBatchND does with a block of block_size x block_size on images.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}, {"block_size", at_least{2}}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SpaceToBatch(f32[[[[1], [2]], [[3], [4]]]], i32[[0, 0], [0, 0]]) block_size=2
fetch y = f32[[[[1]]], [[[2]]], [[[3]]], [[[4]]]]
)",
};

} // namespace troupe::ops::space_to_batch_op
