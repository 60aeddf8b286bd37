// Converts blocks of space to items of a batch, and back.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::space_to_batch_op {
namespace {

result<shapes> infer_space_to_batch(const infer_context& at) {
  return infer_square_batching(at, batching::space_to_batch);
}

edges space_to_batch_gradient(gradient_context& at) {
  return {build("BatchToSpace", {at.output_gradient(0), at.input(1)},
                {{"block_size", at.attr<int64_t>("block_size")}}),
          {}};
}

result<shapes> infer_space_to_batch_nd(const infer_context& at) {
  return infer_batching(at, batching::space_to_batch);
}

edges space_to_batch_nd_gradient(gradient_context& at) {
  return {build("BatchToSpaceND", {at.output_gradient(0), at.input(1), at.input(2)}), {}, {}};
}

result<shapes> infer_batch_to_space(const infer_context& at) {
  return infer_square_batching(at, batching::batch_to_space);
}

edges batch_to_space_gradient(gradient_context& at) {
  return {build("SpaceToBatch", {at.output_gradient(0), at.input(1)},
                {{"block_size", at.attr<int64_t>("block_size")}}),
          {}};
}

result<shapes> infer_batch_to_space_nd(const infer_context& at) {
  return infer_batching(at, batching::batch_to_space);
}

edges batch_to_space_nd_gradient(gradient_context& at) {
  return {build("SpaceToBatchND", {at.output_gradient(0), at.input(1), at.input(2)}), {}, {}};
}

} // namespace

extern constexpr op_def space_to_batch{
    .name = "SpaceToBatch",
    .doc = "Does what SpaceToBatchND does with a block of block_size x block_size on images.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}, {"block_size", at_least{2}}},
    .infer = infer_space_to_batch,
    .gradient = space_to_batch_gradient,
    .example = R"(
y = SpaceToBatch(f32[[[[1], [2]], [[3], [4]]]], i32[[0, 0], [0, 0]]) block_size=2
fetch y = f32[[[[1]]], [[[2]]], [[[3]]], [[[4]]]]
)",
};

extern constexpr op_def space_to_batch_nd{
    .name = "SpaceToBatchND",
    .doc = "Cuts axes 1, 2, ... into blocks of extents block_shape; the places in a block become "
           "parts of the batch, axis 0.\n\n"
           "First the axes are padded with zeros, paddings[i, 0] before and paddings[i, 1] "
           "behind, to multiples of the block.",
    .inputs = {{"input", "T"},
               on_host("block_shape", "Tblock_shape"),
               on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Tblock_shape", index_types, dtype::i32},
              {"Tpaddings", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_space_to_batch_nd,
    .gradient = space_to_batch_nd_gradient,
    .example = R"(
y = SpaceToBatchND(f32[[1, 2, 3]], i32[2], i32[[1, 0]])
fetch y = f32[[0, 2], [1, 3]]
)",
};

extern constexpr op_def batch_to_space{
    .name = "BatchToSpace",
    .doc = "Does what BatchToSpaceND does with a block of block_size x block_size on images.",
    .inputs = {{"input", "T"}, on_host("crops", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}, {"block_size", at_least{2}}},
    .infer = infer_batch_to_space,
    .gradient = batch_to_space_gradient,
    .example = R"(
y = BatchToSpace(f32[[[[1]]], [[[2]]], [[[3]]], [[[4]]]], i32[[0, 0], [0, 0]]) block_size=2
fetch y = f32[[[[1], [2]], [[3], [4]]]]
)",
};

extern constexpr op_def batch_to_space_nd{
    .name = "BatchToSpaceND",
    .doc = "Takes the batch, axis 0, apart into parts, one for each place in a block of extents "
           "block_shape, and puts the blocks together along axes 1, 2, ...\n\nThen crops[i, 0] "
           "elements before and crops[i, 1] behind are dropped from each of these axes.",
    .inputs = {{"input", "T"}, on_host("block_shape", "Tblock_shape"), on_host("crops", "Tcrops")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Tblock_shape", index_types, dtype::i32},
              {"Tcrops", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_batch_to_space_nd,
    .gradient = batch_to_space_nd_gradient,
    .example = R"(
y = BatchToSpaceND(f32[[0, 2], [1, 3]], i32[2], i32[[1, 0]])
fetch y = f32[[1, 2, 3]]
)",
};

} // namespace troupe::ops::space_to_batch_op
