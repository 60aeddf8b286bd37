// EncodePng: an image as a file without loss.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::encode_png_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (auto level = at.attr<int64_t>("compression"); level < -1 || level > 9)
    return at.invalid("compression must be in [-1, 9], got ", level);
  return infer_encoded(at);
}

} // namespace

extern constexpr op_def encode_png{
    .name = "EncodePng",
    .doc = "Encodes a tensor [height, width, channels] as PNG file.\n\n"
           "There are 1 (gray), 2 (gray with alpha), 3 (RGB) or 4 channels (with alpha). "
           "`compression` goes from 0, none, to 9, the best; -1 is zlib's own choice.",
    .inputs = {{"image", "T"}},
    .outputs = {{"contents", "string"}},
    .attrs = {{"compression", -1}, {"T", one_of(dtype::u8, dtype::u16), dtype::u8}},
    .infer = infer,
    .no_gradient = "files have none",
    .example = R"(
file = EncodePng(u8[[[1, 2, 3], [4, 5, 6]]]) compression=9
y = DecodePng(file)
fetch y = u8[[[1, 2, 3], [4, 5, 6]]]
)",
};

} // namespace troupe::ops::encode_png_op
