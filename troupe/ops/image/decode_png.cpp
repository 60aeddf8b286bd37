// DecodePng: an image from a file without loss.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::decode_png_op {

extern constexpr op_def decode_png{
    .name = "DecodePng",
    .doc = "Decodes a PNG file to a tensor [height, width, channels].\n\n"
           "`channels` is 1 (gray), 3 (RGB), 4 (with alpha), or 0 for as many as the file has. "
           "Where a file has 16 bits a sample and dtype 8, the lower ones are dropped. A JPEG file "
           "is taken as well.",
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

} // namespace troupe::ops::decode_png_op
