#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::decode_image_cpu {
namespace {

struct settings {
  int channels;
  dtype type;
  bool expand;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<settings>(
      settings{static_cast<int>(setup.origin.attr<int64_t>("channels")),
               setup.origin.attr<dtype>("dtype"), setup.origin.attr<bool>("expand_animations")})};
}

result<std::string_view> contents_of(const kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  return std::string_view{*at.input(0).data<std::string>()};
}

result<tensor> read(std::string_view file, const settings& options, allocator& memory,
                    stop_signal* stop) {
  auto wide = options.type == dtype::u8 ? dtype::u8 : dtype::u16;
  if (is_png(file)) {
    TROUPE_ASSIGN(auto image, read_png(file, {options.channels, wide}, memory));
    return options.type == dtype::f32 ? scaled<uint16_t>(image, 1.0f / 65535, memory) : image;
  }
  auto image = [&]() -> result<tensor> {
    if (is_jpeg(file))
      return read_jpeg(file, {.channels = options.channels}, memory, stop);
    if (is_bmp(file))
      return read_bmp(file, options.channels, memory);
    if (!is_gif(file))
      return invalid("the bytes are no PNG, JPEG, GIF or BMP file: they do not begin as one");
    if (options.channels != 0 && options.channels != 3)
      return invalid("channels must be 0 or 3 for a GIF file, got ", options.channels);
    return read_gif(file, options.expand ? gif_frames::all : gif_frames::first, memory, stop);
  }();
  if (!image || options.type == dtype::u8)
    return image;
  return options.type == dtype::u16 ? scaled<uint8_t>(*image, wide_factor, memory)
                                    : scaled<uint8_t>(*image, 1.0f / 255, memory);
}

status run_decode_image(kernel_context& at) {
  TROUPE_ASSIGN(auto file, contents_of(at));
  TROUPE_ASSIGN(auto image, read(file, at.state<settings>(), at.memory(), at.stop()));
  at.set_output(0, std::move(image));
  return {};
}

status run_decode_bmp(kernel_context& at) {
  TROUPE_ASSIGN(auto file, contents_of(at));
  TROUPE_ASSIGN(auto image, read_bmp(file, static_cast<int>(at.state<int64_t>()), at.memory()));
  at.set_output(0, std::move(image));
  return {};
}

status run_decode_gif(kernel_context& at) {
  TROUPE_ASSIGN(auto file, contents_of(at));
  if (is_png(file) || is_jpeg(file)) { // one frame
    TROUPE_ASSIGN(auto image, is_png(file)
                                  ? read_png(file, {.channels = 3}, at.memory())
                                  : read_jpeg(file, {.channels = 3}, at.memory(), at.stop()));
    at.set_output(0, image.reshaped(shape{1, image.dims()[0], image.dims()[1], 3}));
    return {};
  }
  if (!is_gif(file))
    return invalid("the bytes are no GIF file: they do not begin as one");
  TROUPE_ASSIGN(auto image, read_gif(file, gif_frames::all, at.memory(), at.stop()));
  at.set_output(0, std::move(image));
  return {};
}

} // namespace

extern constexpr kernel_def decode_image_cpu{
    .op = "DecodeImage",
    .run = {{dtype::none, run_decode_image}},
    .prepare = prepare,
};

extern constexpr kernel_def decode_bmp_cpu{
    .op = "DecodeBmp",
    .run = {{dtype::none, run_decode_bmp}},
    .prepare = cache_attr<int64_t, "channels">,
};

extern constexpr kernel_def decode_gif_cpu{
    .op = "DecodeGif",
    .run = {{dtype::none, run_decode_gif}},
};

} // namespace troupe::ops::decode_image_cpu
