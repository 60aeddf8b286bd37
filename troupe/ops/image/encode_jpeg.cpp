// EncodeJpeg: an image as a photograph's file.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::encode_jpeg_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
    .infer = infer,
    .no_gradient = "files have none",
    .example = R"(
file = EncodeJpeg(u8{2,3,3}[128]) progressive=true xmp_metadata="<x/>"
y = DecodeJpeg(file)
fetch y = u8{2,3,3}[128]
)",
};

} // namespace troupe::ops::encode_jpeg_op
