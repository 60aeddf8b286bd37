// DecodeJpeg: an image from a photograph's file.
#include "troupe/ops/image/shared/image_file.hpp"

namespace troupe::ops::decode_jpeg_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
        "well.",
    .inputs = {{"contents", "string"}},
    .outputs = {{"image", "u8"}},
    .attrs = {{"channels", 0},
              {"ratio", 1},
              {"fancy_upscaling", true},
              {"try_recover_truncated", false},
              {"acceptable_fraction", 1.0},
              {"dct_method", ""}},
    .infer = infer,
    .no_gradient = "files have none",
    .example = R"(
file = EncodeJpeg(u8{8,8,1}[100]) quality=100
y = DecodeJpeg(file)
small = DecodeJpeg(file) ratio=8 channels=3
fetch y = u8{8,8,1}[100]
fetch small = u8[[[100, 100, 100]]]
)",
};

} // namespace troupe::ops::decode_jpeg_op
