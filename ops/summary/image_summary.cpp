// ImageSummary: the images of a step for TensorBoard.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::image_summary_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  TROUPE_ASSIGN(auto dims, at.of_rank(1, 4));
  if (auto channels = dims[3];
      channels != unknown_extent && channels != 1 && channels != 3 && channels != 4)
    return at.invalid("images must have 1, 3 or 4 channels, got ", dims);
  if (auto max_images = at.attr<int64_t>("max_images"); max_images < 1 || max_images > INT32_MAX)
    return at.invalid("max_images must be at least 1 and less than 2^31, got ", max_images);
  const auto& bad = at.attr<tensor>("bad_color");
  if (!bad.empty() && (bad.type() != dtype::u8 || bad.rank() != 1))
    return at.invalid("bad_color must be a vector of u8, got ", bad.type(), bad.dims());
  return shapes{partial_shape{shape{}}};
}

} // namespace

extern constexpr op_def image_summary{
    .name = "ImageSummary",
    .doc = "Writes images [batch, height, width, channels] as PNG files in a Summary.\n\n"
           "There are 1, 3 or 4 channels. Of each batch, the first max_images are written, with "
           "the tags tag/image/0 and so on; if only one is to be written, tag/image. Elements of "
           "u8 stay as they are. Others are scaled for each image by itself: if none is negative, "
           "so that the largest becomes 255; else so that 0 becomes 128 and the one that is "
           "farthest from it 1 or 255. Pixels that are not finite get bad_color, by default red.",
    .inputs = {{"tag", "string"}, {"tensor", "T"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"max_images", 3},
              {"T", one_of(dtype::u8, dtype::f16, dtype::f32, dtype::f64), dtype::f32},
              {"bad_color", attr_kind::tensor, true}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = ImageSummary(string("digit"), f32[[[[0], [0.5], [1]]]]) max_images=1
head = Substr(y, i32(2), i32(13))
fetch head = string("\x0a\x0bdigit/image")
)",
};

} // namespace troupe::ops::image_summary_op
