#include "troupe/ops/image/shared/image_file.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace troupe::ops {
namespace {

// LZW expands a code to at most 4095 pixels, and a code has at least 3 bits.
constexpr int64_t most_pixels_per_byte = 4096 * 8 / 3;

// The order of the lines of an interlaced image.
constexpr std::array<std::array<int, 2>, 4> passes{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};

// Reads a file's records. giflib's own DGifSlurp() would allocate the size that an image claims.
class gif_file {
public:
  explicit gif_file(std::string_view file) : unread_(file) {
    int error_code = 0;
    gif_ = DGifOpen(this, give, &error_code);
    if (!gif_)
      complaint_ = describe(error_code);
  }
  ~gif_file() {
    int error_code = 0;
    if (gif_)
      DGifCloseFile(gif_, &error_code);
  }
  gif_file(const gif_file&) = delete;
  gif_file& operator=(const gif_file&) = delete;

  /// Advances to the next image, whose description is then available. Returns false at the end.
  result<bool> next() {
    transparent_ = NO_TRANSPARENT_COLOR;
    while (gif_) {
      GifRecordType kind = UNDEFINED_RECORD_TYPE;
      if (unread_.empty())
        return false; // many files lack the trailer byte
      if (DGifGetRecordType(gif_, &kind) != GIF_OK)
        return damaged();
      if (kind == TERMINATE_RECORD_TYPE)
        return false;
      if (kind == EXTENSION_RECORD_TYPE) {
        if (!read_extension())
          return damaged();
      } else if (kind == IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetImageDesc(gif_) != GIF_OK)
          return damaged();
        return true;
      }
    }
    return damaged();
  }

  const GifImageDesc& image() const { return gif_->Image; }
  const ColorMapObject* colors() const {
    return gif_->Image.ColorMap ? gif_->Image.ColorMap : gif_->SColorMap;
  }
  int transparent() const { return transparent_; }

  /// Skips the pixels of the image.
  status skip() {
    int bits = 0;
    GifByteType* block = nullptr;
    if (DGifGetCode(gif_, &bits, &block) != GIF_OK)
      return damaged();
    while (block)
      if (DGifGetCodeNext(gif_, &block) != GIF_OK)
        return damaged();
    return {};
  }

  /// Reads the next line of the image.
  status read(std::span<GifPixelType> line) {
    if (DGifGetLine(gif_, line.data(), static_cast<int>(line.size())) != GIF_OK)
      return damaged();
    return {};
  }

private:
  status damaged() const {
    return invalid("the bytes are no GIF file, or a damaged one: ",
                   complaint_.empty() ? describe(gif_ ? gif_->Error : 0) : complaint_);
  }

  static std::string describe(int error_code) {
    const auto* text = GifErrorString(error_code);
    return text ? text : "it ends early";
  }

  static int give(GifFileType* gif, GifByteType* to, int count) {
    auto& unread = static_cast<gif_file*>(gif->UserData)->unread_;
    auto byte_count = std::min(unread.size(), static_cast<size_t>(std::max(count, 0)));
    std::memcpy(to, unread.data(), byte_count);
    unread.remove_prefix(byte_count);
    return static_cast<int>(byte_count);
  }

  bool read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &code, &block) != GIF_OK)
      return false;
    while (block) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        transparent_ = control.TransparentColor;
      if (DGifGetExtensionNext(gif_, &block) != GIF_OK)
        return false;
    }
    return true;
  }

  std::string_view unread_;
  GifFileType* gif_ = nullptr;
  std::string complaint_;
  int transparent_ = NO_TRANSPARENT_COLOR;
};

struct gif_size {
  int64_t frames = 0, height = 0, width = 0;
};

// Every frame gets the extents of the largest frame.
result<gif_size> measure(std::string_view bytes, stop_signal* stop) {
  gif_file file{bytes};
  gif_size size;
  int64_t pixels = 0;
  for (;;) {
    TROUPE_ASSIGN(auto has_image, file.next());
    if (!has_image || (stop && stop->raised()))
      break;
    const auto& image = file.image();
    ++size.frames;
    size.height = std::max<int64_t>(size.height, image.Height);
    size.width = std::max<int64_t>(size.width, image.Width);
    pixels += int64_t{image.Height} * image.Width;
    if (pixels / most_pixels_per_byte > static_cast<int64_t>(bytes.size()))
      return invalid("a file of ", bytes.size(), " bytes cannot hold images of ", pixels,
                     " pixels");
    TROUPE_TRY(file.skip());
  }
  if (size.frames == 0)
    return invalid("the GIF file has no image");
  return size;
}

// A frame starts as a copy of the previous frame; the first frame starts black.
status draw(gif_file& file, uint8_t* frame, const gif_size& size) {
  const auto& image = file.image();
  const auto* colors = file.colors();
  if (!colors)
    return invalid("an image of the GIF file has no colors");
  std::vector<GifPixelType> line(static_cast<size_t>(image.Width));
  auto draw_line = [&](int64_t y) -> status {
    TROUPE_TRY(file.read(line));
    auto row = image.Top + y;
    if (row >= size.height)
      return {};
    for (int64_t x = 0; x < image.Width && image.Left + x < size.width; ++x) {
      int color = line[static_cast<size_t>(x)];
      if (color == file.transparent())
        continue;
      if (color >= colors->ColorCount)
        return invalid("a pixel of the GIF file has color ", color, ", and there are ",
                       colors->ColorCount);
      const auto& rgb = colors->Colors[color];
      auto* to = frame + (row * size.width + image.Left + x) * 3;
      to[0] = rgb.Red;
      to[1] = rgb.Green;
      to[2] = rgb.Blue;
    }
    return {};
  };
  if (!image.Interlace) {
    for (int64_t y = 0; y < image.Height; ++y)
      TROUPE_TRY(draw_line(y));
    return {};
  }
  for (auto [first, step] : passes)
    for (int64_t y = first; y < image.Height; y += step)
      TROUPE_TRY(draw_line(y));
  return {};
}

} // namespace

result<tensor> read_gif(std::string_view bytes, gif_frames selection, allocator& memory,
                        stop_signal* stop) {
  TROUPE_ASSIGN(auto size, measure(bytes, stop));
  if (selection == gif_frames::only && size.frames > 1)
    return invalid("the GIF file has ", size.frames,
                   " frames; DecodeGif and DecodeImage read animations");
  auto frames = selection == gif_frames::all ? size.frames : 1;
  if (size.height <= 0 || size.width <= 0)
    return invalid("an image must have pixels, got ", size.height, 'x', size.width);
  if (size.width > max_samples || size.height > max_samples / size.width / 3 / frames)
    return invalid("images of ", frames, 'x', size.height, 'x', size.width, "x3 are too large");
  auto dims = selection == gif_frames::all ? shape{frames, size.height, size.width, 3}
                                           : shape{size.height, size.width, 3};
  TROUPE_ASSIGN(auto animation, tensor::make(dtype::u8, dims, memory));
  auto frame_bytes = static_cast<size_t>(size.height * size.width * 3);
  auto* to = animation.data<uint8_t>();
  gif_file file{bytes};
  for (int64_t i = 0; i < frames && !(stop && stop->raised()); ++i, to += frame_bytes) {
    TROUPE_TRY(file.next().status());
    if (i == 0)
      std::memset(to, 0, frame_bytes);
    else
      std::memcpy(to, to - frame_bytes, frame_bytes);
    TROUPE_TRY(draw(file, to, size));
  }
  return animation;
}

} // namespace troupe::ops
