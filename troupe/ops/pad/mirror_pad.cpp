// MirrorPad: a tensor in a frame of mirror images.
#include "troupe/ops/pad/shared/mirroring.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::mirror_pad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(mirror_offset(at.attr<std::string>("mode")));
  return infer_padding(at);
}

edges gradient(gradient_context& at) {
  auto dx = build("MirrorPadGrad", {at.output_gradient(0), at.input(1)},
                  {{"mode", at.attr<std::string>("mode")}});
  return {dx, {}};
}

} // namespace

extern constexpr op_def mirror_pad{
    .name = "MirrorPad",
    .doc = "Puts paddings[i, 0] mirrored elements before and paddings[i, 1] behind those of axis "
           "i.\n\nIn mode SYMMETRIC the mirrors stand outside of the first and last element, in "
           "mode REFLECT on them, so that these do not appear twice.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}, {"mode", attr_kind::text}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = MirrorPad(x, i32[[1, 0], [0, 2]]) mode="REFLECT"
z = MirrorPad(x, i32[[0, 0], [1, 2]]) mode="SYMMETRIC"
fetch y = f32[[4, 5, 6, 5, 4], [1, 2, 3, 2, 1], [4, 5, 6, 5, 4]]
fetch z = f32[[1, 1, 2, 3, 3, 2], [4, 4, 5, 6, 6, 5]]
)",
};

} // namespace troupe::ops::mirror_pad_op
