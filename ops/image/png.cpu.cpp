#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::png_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<png_options>(
      png_options{static_cast<int>(setup.origin.attr<int64_t>("channels")),
                  setup.origin.attr<dtype>("dtype")})};
}

status run_decode_png(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  const auto& options = at.state<png_options>();
  std::string_view file = *at.input(0).data<std::string>();
  if (is_jpeg(file) && options.type == dtype::u8) {
    TROUPE_ASSIGN(auto image,
                  read_jpeg(file, {.channels = options.channels}, at.memory(), at.stop()));
    at.set_output(0, std::move(image));
    return {};
  }
  if (is_gif(file) && options.channels % 3 == 0) {
    TROUPE_ASSIGN(auto image, read_gif(file, gif_frames::only, at.memory(), at.stop()));
    if (options.type == dtype::u16) {
      TROUPE_ASSIGN(image, scaled<uint8_t>(image, wide_factor, at.memory()));
    }
    at.set_output(0, std::move(image));
    return {};
  }
  TROUPE_ASSIGN(auto image, read_png(file, options, at.memory()));
  at.set_output(0, std::move(image));
  return {};
}

status run_encode_png(kernel_context& at) {
  TROUPE_ASSIGN(auto file, write_png(at.input(0), static_cast<int>(at.state<int64_t>())));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<std::string>() = std::move(file);
  return {};
}

} // namespace

extern constexpr kernel_def decode_png_cpu{
    .op = "DecodePng",
    .run = {{dtype::none, run_decode_png}},
    .prepare = prepare,
};

extern constexpr kernel_def encode_png_cpu{
    .op = "EncodePng",
    .run = {{dtype::none, run_encode_png}},
    .prepare = cache_attr<int64_t, "compression">,
};

} // namespace troupe::ops::png_cpu
