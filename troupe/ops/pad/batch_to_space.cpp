// BatchToSpace: parts of a batch as places in blocks.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::batch_to_space_op {
namespace {

result<shapes> infer(const infer_context& at) {
  return infer_square_batching(at, batching::batch_to_space);
}

edges gradient(gradient_context& at) {
  return {build("SpaceToBatch", {at.output_gradient(0), at.input(1)},
                {{"block_size", at.attr<int64_t>("block_size")}}),
          {}};
}

} // namespace

extern constexpr op_def batch_to_space{
    .name = "BatchToSpace",
    .doc = "Does what BatchToSpaceND does with a block of block_size x block_size on images.",
    .inputs = {{"input", "T"}, on_host("crops", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}, {"block_size", at_least{2}}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = BatchToSpace(f32[[[[1]]], [[[2]]], [[[3]]], [[[4]]]], i32[[0, 0], [0, 0]]) block_size=2
fetch y = f32[[[[1], [2]], [[3], [4]]]]
)",
};

} // namespace troupe::ops::batch_to_space_op
