// Converts blocks of space to channels, and back.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_depth.hpp"

namespace troupe::ops::space_to_depth_op {
namespace {

result<shapes> infer_space_to_depth(const infer_context& at) { return infer_blocks(at, true); }

edges space_to_depth_gradient(gradient_context& at) {
  return {build("DepthToSpace", {at.output_gradient(0)},
                {{"block_size", at.attr<int64_t>("block_size")},
                 {"data_format", at.attr<std::string>("data_format")}})};
}

result<shapes> infer_depth_to_space(const infer_context& at) { return infer_blocks(at, false); }

edges depth_to_space_gradient(gradient_context& at) {
  return {build("SpaceToDepth", {at.output_gradient(0)},
                {{"block_size", at.attr<int64_t>("block_size")},
                 {"data_format", at.attr<std::string>("data_format")}})};
}

} // namespace

extern constexpr op_def space_to_depth{
    .name = "SpaceToDepth",
    .doc = "Makes each block of block_size x block_size pixels one pixel with as many times the "
           "channels.\n\nThe channels of the pixels follow each other row by row. data_format says "
           "whether the channels are the last axis (NHWC) or axis 1 (NCHW).",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"block_size", at_least{2}}, {"data_format", "NHWC"}},
    .infer = infer_space_to_depth,
    .gradient = space_to_depth_gradient,
    .example = R"(
y = SpaceToDepth(f32[[[[1], [2]], [[3], [4]]]]) block_size=2
fetch y = f32[[[[1, 2, 3, 4]]]]
)",
};

extern constexpr op_def depth_to_space{
    .name = "DepthToSpace",
    .doc =
        "Makes each pixel a block of block_size x block_size pixels, among which its channels are "
        "dealt out.\n\nThe block gets them row by row. data_format says whether the channels are "
        "the last axis (NHWC) or axis 1 (NCHW).",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"block_size", at_least{2}}, {"data_format", "NHWC"}},
    .infer = infer_depth_to_space,
    .gradient = depth_to_space_gradient,
    .example = R"(
y = DepthToSpace(f32[[[[1, 2, 3, 4]]]]) block_size=2
fetch y = f32[[[[1], [2]], [[3], [4]]]]
)",
};

} // namespace troupe::ops::space_to_depth_op
