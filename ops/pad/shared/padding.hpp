// What ops that put a frame around a tensor share: Pad, PadV2, MirrorPad.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Input 0 with the paddings that input 1 lists for each axis.
result<shapes> infer_padding(const infer_context& at);
/// Input 0 without them.
result<shapes> infer_cropping(const infer_context& at);

/// How many elements stand before and behind those of an axis.
struct frame {
  int64_t before = 0, after = 0;
};

/// One frame for each axis of the tensor; none is negative.
result<std::vector<frame>> frames_of(const tensor& paddings, const shape& dims);

/// The shape with the frames around it; their sums may be too much for a tensor.
result<shape> padded(const shape& dims, const std::vector<frame>& frames);

/// Input 0 in frames of a value.
status pad_with(kernel_context& at, const tensor& value);

/// The part of an output's gradient that belongs to the padded tensor, input 0.
edge cropped(gradient_context& at, edge dy);

} // namespace troupe::ops
