// Shared by the ops that pad a tensor: Pad, PadV2, MirrorPad.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The shape of input 0 with the paddings that input 1 lists for each axis.
result<shapes> infer_padding(const infer_context& at);
/// The shape of input 0 without these paddings.
result<shapes> infer_cropping(const infer_context& at);

/// The numbers of padding elements before and after an axis.
struct frame {
  int64_t before = 0, after = 0;
};

/// The padding of each axis; none is negative.
result<std::vector<frame>> frames_of(const tensor& paddings, const shape& dims);

/// The shape with padding; fails where it is too large for a tensor.
result<shape> padded(const shape& dims, const std::vector<frame>& frames);

/// Input 0 padded with a value.
status pad_with(kernel_context& at, const tensor& value);

/// The part of an output's gradient that belongs to the padded tensor, input 0.
edge cropped(gradient_context& at, edge dy);

} // namespace troupe::ops
