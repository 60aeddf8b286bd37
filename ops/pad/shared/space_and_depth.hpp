// Shared by SpaceToDepth and DepthToSpace, which exchange blocks of an image and channels.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

struct block_layout {
  int64_t size;
  bool channels_first;

  int rows() const { return channels_first ? 2 : 1; }
  int channels() const { return channels_first ? 1 : 3; }
};

/// Reads the attributes of a node, or of a shape function's context.
template <class Node>
result<block_layout> block_layout_of(const Node& of) {
  const auto& format = of.template attr<std::string>("data_format");
  if (format != "NHWC" && format != "NCHW")
    return invalid("data_format must be NHWC or NCHW, got '", format, "'");
  auto size = of.template attr<int64_t>("block_size");
  if (size < 2)
    return invalid("block_size must be at least 2, got ", size);
  return block_layout{size, format == "NCHW"};
}

/// Both ops take images with rows, columns and channels; `to_depth` selects the op.
result<shapes> infer_blocks(const infer_context& at, bool to_depth);
status move_blocks(kernel_context& at, bool to_depth);

/// For kernel_def::prepare.
result<std::shared_ptr<void>> keep_block_layout(const kernel_setup& setup);

} // namespace troupe::ops
