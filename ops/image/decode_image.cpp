// Image files of several formats, or of those that have no other op.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::decode_image_op {
namespace {

result<shapes> infer_decode_image(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, infer_decoded(at));
  if (at.attr<bool>("expand_animations"))
    return shapes{partial_shape::unknown()}; // a GIF file has four axes
  return dims;
}

result<shapes> infer_decode_bmp(const infer_context& at) {
  if (at.attr<int64_t>("channels") == 1)
    return at.invalid("channels must be 0, 3 or 4, got 1");
  return infer_decoded(at);
}

result<shapes> infer_decode_gif(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{{unknown_extent, unknown_extent, unknown_extent, 3}};
}

} // namespace

extern constexpr op_def decode_image{
    .name = "DecodeImage",
    .doc = "Decodes a PNG, JPEG, GIF or BMP file to a tensor [height, width, channels].\n\n"
           "A GIF file becomes [frames, height, width, 3], or its first frame where "
           "expand_animations is false. `channels` is 1 (gray), 3 (RGB), 4 (with alpha), or 0 for "
           "as many as the file has, as far as the format can: JPEG has no alpha, GIF and BMP no "
           "gray. u16 and f32 have the full range of brightness of u16, and from 0 to 1; of a file "
           "of 8 bits, other than PNG, u16 has 256 times the numbers.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "dtype"}},
    .attrs = {{"channels", 0},
              {"dtype", one_of(dtype::u8, dtype::u16, dtype::f32), dtype::u8},
              {"expand_animations", true}},
    .infer = infer_decode_image,
    .no_gradient = "files have none",
    .example = R"(
file = EncodePng(u8[[[10], [20]], [[30], [255]]])
y = DecodeImage(file)
z = DecodeImage(file) dtype=f32 channels=3 expand_animations=false
fetch y = u8[[[10], [20]], [[30], [255]]]
fetch z = f32[[[0.0392157, 0.0392157, 0.0392157], [0.0784314, 0.0784314, 0.0784314]], [[0.117647, 0.117647, 0.117647], [1, 1, 1]]]
)",
};

extern constexpr op_def decode_bmp{
    .name = "DecodeBmp",
    .doc = "Decodes a BMP file of 8, 24 or 32 bits for a pixel to a tensor [height, width, "
           "channels].\n\n`channels` is 3 (RGB), 4 (with alpha), or 0 for as many as the file has. "
           "The colors of a palette are not looked up. Compressed files are refused.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "u8"}},
    .attrs = {{"channels", 0}},
    .infer = infer_decode_bmp,
    .no_gradient = "files have none",
    .example = R"(
bytes = DecodeBase64(string("Qk0-AAAAAAAAADYAAAAoAAAAAgAAAAEAAAABABgAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAwIBBgUEAAA"))
y = DecodeBmp(bytes)
fetch y = u8[[[1, 2, 3], [4, 5, 6]]]
)",
};

extern constexpr op_def decode_gif{
    .name = "DecodeGif",
    .doc = "Decodes a GIF file to a tensor [frames, height, width, 3].\n\nEach frame begins as the "
           "one before it, the first one black, and all have the extents of the largest. A PNG or "
           "JPEG file is one frame.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "u8"}},
    .attrs = {},
    .infer = infer_decode_gif,
    .no_gradient = "files have none",
    .example = R"(
bytes = DecodeBase64(string("R0lGODdhAgABAIAAAAECAwQFBiwAAAAAAgABAAACAkQKADs"))
y = DecodeGif(bytes)
fetch y = u8[[[[1, 2, 3], [4, 5, 6]]]]
)",
};

} // namespace troupe::ops::decode_image_op
