// Image files: shared by the codecs.
#pragma once
#include "troupe/runtime/device/stop_signal.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace troupe::ops {

/// The maximum number of samples of an image, as in TensorFlow.
inline constexpr int64_t max_samples = int64_t{1} << 29;

/// Fails for images above the limits, and for those whose header claims more pixels than the file
/// can hold at this many pixels per byte: their memory would be wasted.
inline status check_size(int64_t height, int64_t width, int64_t channels, size_t file_bytes,
                         int64_t max_pixels_per_byte) {
  if (height <= 0 || width <= 0)
    return invalid("an image must have pixels, got ", height, 'x', width);
  if (width > max_samples || height > max_samples / width / channels)
    return invalid("an image of ", height, 'x', width, 'x', channels, " is too large");
  if (height * width / max_pixels_per_byte > static_cast<int64_t>(file_bytes))
    return invalid("a file of ", file_bytes, " bytes cannot hold an image of ", height, 'x', width);
  return {};
}

struct png_options {
  int channels = 0; ///< 0: as in the file
  dtype type = dtype::u8;
};

struct jpeg_options {
  int channels = 0; ///< 0: as in the file
  int ratio = 1;    ///< each axis is divided by this ratio
  bool fancy_upscaling = true, recover_truncated = false;
  double acceptable_fraction = 1; ///< the fraction of lines that a truncated file must have
  bool fast_dct = true;
};

/// Both return a tensor [height, width, channels].
result<tensor> read_png(std::string_view file, const png_options& options, allocator& memory);
result<tensor> read_jpeg(std::string_view file, const jpeg_options& options, allocator& memory,
                         stop_signal* stop);
/// A u8 image converted to another sample type, each sample times `factor`.
template <class From, class To>
result<tensor> scaled(const tensor& image, To factor, allocator& memory) {
  TROUPE_ASSIGN(auto converted, tensor::make(dtype_of<To>, image.dims(), memory));
  std::ranges::transform(
      image.values<From>(), converted.template data<To>(),
      [factor](From sample) { return static_cast<To>(static_cast<To>(sample) * factor); });
  return converted;
}

/// TensorFlow's factor from 8 to 16 bits, except for PNG.
inline constexpr uint16_t wide_factor = 256;

/// The images of a GIF file to read.
enum class gif_frames : uint8_t {
  all,   ///< [frames, height, width, 3]
  first, ///< [height, width, 3]
  only,  ///< as `first`; fails if there are several
};

/// Both return u8. A BMP file gets the requested channels; 0 keeps its own.
result<tensor> read_gif(std::string_view file, gif_frames selection, allocator& memory,
                        stop_signal* stop);
result<tensor> read_bmp(std::string_view file, int channels, allocator& memory);
/// Height, width and channels of a JPEG file, from its header alone.
result<std::array<int64_t, 3>> jpeg_extents(std::string_view file);
/// Encodes [height, width, channels] of u8 or u16. `compression` is from 0 to 9; -1 is zlib's
/// default.
result<std::string> write_png(const tensor& image, int compression);

inline bool is_png(std::string_view file) { return file.starts_with("\x89PNG\r\n\x1a\n"); }
inline bool is_gif(std::string_view file) { return file.starts_with("GIF8"); }
inline bool is_bmp(std::string_view file) { return file.starts_with("BM"); }
inline bool is_jpeg(std::string_view file) { return file.starts_with("\xff\xd8\xff"); }

/// The shape function of ops that decode one file to `channels` channels.
inline result<shapes> infer_decoded(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto channels = at.attr<int64_t>("channels");
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    return at.invalid("channels must be 0, 1, 3 or 4, got ", channels);
  return shapes{{unknown_extent, unknown_extent, channels ? channels : unknown_extent}};
}

/// The shape function of ops that encode one image.
inline result<shapes> infer_encoded(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 3));
  return shapes{shape{}};
}

} // namespace troupe::ops
