// JPEG files.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::jpeg_op {
namespace {

result<shapes> infer_decode_jpeg(const infer_context& at) {
  auto ratio = at.attr<int64_t>("ratio"), channels = at.attr<int64_t>("channels");
  const auto& method = at.attr<std::string>("dct_method");
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
    return at.invalid("ratio must be 1, 2, 4 or 8, got ", ratio);
  if (channels == 4)
    return at.invalid("channels must be 0, 1 or 3, got 4");
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
    return at.invalid("dct_method must be empty, INTEGER_FAST or INTEGER_ACCURATE, got '", method,
                      "'");
  return infer_decoded(at);
}

result<shapes> infer_extract_jpeg_shape(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{shape{3}};
}

result<shapes> infer_encode_jpeg(const infer_context& at) {
  const auto &format = at.attr<std::string>("format"), &unit = at.attr<std::string>("density_unit");
  auto quality = at.attr<int64_t>("quality");
  if (!format.empty() && format != "grayscale" && format != "rgb")
    return at.invalid("format must be empty, grayscale or rgb, got '", format, "'");
  if (unit != "in" && unit != "cm")
    return at.invalid("density_unit must be in or cm, got '", unit, "'");
  if (quality < 0 || quality > 100)
    return at.invalid("quality must be in [0, 100], got ", quality);
  for (auto name : {"x_density", "y_density"})
    if (auto density = at.attr<int64_t>(name); density < 0 || density > UINT16_MAX)
      return at.invalid(name, " must be in [0, ", UINT16_MAX, "], got ", density);
  return infer_encoded(at);
}

} // namespace

extern constexpr op_def decode_jpeg{
    .name = "DecodeJpeg",
    .doc =
        "Decodes a JPEG file to a tensor [height, width, channels].\n\n"
        "`channels` is 1 (gray), 3 (RGB), or 0 for as many as the file has. With `ratio` 2, 4 or "
        "8 the image becomes so many times smaller, which is faster than to resize it. With "
        "try_recover_truncated, a file that ends early gives what it has, gray where it has "
        "nothing, if acceptable_fraction of the lines come out. dct_method "
        "INTEGER_ACCURATE takes longer than INTEGER_FAST, the default. A PNG file is taken as "
        "well, and a GIF file with one image.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "u8"}},
    .attrs = {{"channels", 0},
              {"ratio", 1},
              {"fancy_upscaling", true},
              {"try_recover_truncated", false},
              {"acceptable_fraction", 1.0},
              {"dct_method", ""}},
    .infer = infer_decode_jpeg,
    .no_gradient = "files have none",
    .example = R"(
file = EncodeJpeg(u8{8,8,1}[100]) quality=100
y = DecodeJpeg(file)
small = DecodeJpeg(file) ratio=8 channels=3
fetch y = u8{8,8,1}[100]
fetch small = u8[[[100, 100, 100]]]
)",
};

extern constexpr op_def extract_jpeg_shape{
    .name = "ExtractJpegShape",
    .doc = "Gives height, width and channels of a JPEG file, by its header alone.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image_shape", "output_type"}},
    .attrs = {{"output_type", one_of(dtype::i32, dtype::i64), dtype::i32}},
    .infer = infer_extract_jpeg_shape,
    .no_gradient = "files have none",
    .example = R"(
file = EncodeJpeg(u8{8,7,3}[100])
y = ExtractJpegShape(file)
fetch y = i32[8, 7, 3]
)",
};

extern constexpr op_def encode_jpeg{
    .name = "EncodeJpeg",
    .doc =
        "Encodes a tensor [height, width, channels] as JPEG file.\n\n"
        "There are 1 (gray) or 3 channels (RGB), and `format` may say which. `quality` is in [0, "
        "100]; optimize_size takes time to make the file smaller, `progressive` lets it be shown "
        "while it is loaded, and chroma_downsampling stores colors at half the resolution.",
    .inputs = {{"image", "u8"}},
    .outputs = {{"contents", "string"}},
    .attrs = {{"format", ""},
              {"quality", 95},
              {"progressive", false},
              {"optimize_size", false},
              {"chroma_downsampling", true},
              {"density_unit", "in"},
              {"x_density", 300},
              {"y_density", 300},
              {"xmp_metadata", ""}},
    .infer = infer_encode_jpeg,
    .no_gradient = "files have none",
    .example = R"(
file = EncodeJpeg(u8{2,3,3}[128]) progressive=true xmp_metadata="<x/>"
y = DecodeJpeg(file)
fetch y = u8{2,3,3}[128]
)",
};

} // namespace troupe::ops::jpeg_op
