// MirrorPadGrad: the gradient of MirrorPad.
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(mirror_offset(at.attr<std::string>("mode")));
  return infer_cropping(at);
}

edges gradient(gradient_context& at) {
  auto dx = build("MirrorPad", {at.output_gradient(0), at.input(1)},
                  {{"mode", at.attr<std::string>("mode")}});
  return {dx, {}};
}

} // namespace

extern constexpr op_def mirror_pad_grad{
    .name = "MirrorPadGrad",
    .doc = "Adds the elements of the frame that MirrorPad makes to those that they are images of, "
           "and drops the frame.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tpaddings", index_types, dtype::i32}, {"mode", attr_kind::text}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MirrorPadGrad(f32[[1, 2, 3, 4], [5, 6, 7, 8]], i32[[0, 0], [1, 1]]) mode="SYMMETRIC"
fetch y = f32[[3, 7], [11, 15]]
)",
};

} // namespace troupe::ops::mirror_pad_grad_op
