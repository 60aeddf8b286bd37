// PNG files.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::png_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (auto level = at.attr<int64_t>("compression"); level < -1 || level > 9)
    return at.invalid("compression must be in [-1, 9], got ", level);
  return infer_encoded(at);
}

} // namespace

extern constexpr op_def decode_png{
    .name = "DecodePng",
    .doc = "Decodes a PNG file to a tensor [height, width, channels].\n\n"
           "`channels` is 1 (gray), 3 (RGB), 4 (with alpha), or 0 for as many as the file has. "
           "Where a file has 16 bits a sample and dtype 8, the lower ones are dropped. A JPEG file "
           "is taken as well, and a GIF file with one image.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "dtype"}},
    .attrs = {{"channels", 0}, {"dtype", one_of(dtype::u8, dtype::u16), dtype::u8}},
    .infer = infer_decoded,
    .no_gradient = "files have none",
    .example = R"(
file = EncodePng(u8[[[10], [20]], [[30], [255]]])
y = DecodePng(file)
rgb = DecodePng(file) channels=3
fetch y = u8[[[10], [20]], [[30], [255]]]
fetch rgb = u8[[[10, 10, 10], [20, 20, 20]], [[30, 30, 30], [255, 255, 255]]]
)",
};

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

} // namespace troupe::ops::png_op
