#include "troupe/ops/image/shared/png.cpu.hpp"
#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <bit>

namespace troupe::ops::png_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<png_options>(png_options{
      static_cast<int>(setup.of.attr<int64_t>("channels")), setup.of.attr<dtype>("dtype")})};
}

status run_decode_png(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  const auto& how = at.state<png_options>();
  std::string_view file = *at.input(0).data<std::string>();
  if (is_jpeg(file) && how.type == dtype::u8) {
    TROUPE_ASSIGN(auto image, read_jpeg(file, {.channels = how.channels}, at.memory(), at.stop()));
    at.set_output(0, std::move(image));
    return {};
  }
  TROUPE_ASSIGN(auto image, read_png(file, how, at.memory()));
  at.set_output(0, std::move(image));
  return {};
}

class png_encoder {
public:
  png_encoder(const tensor& image, int compression) : image_(image), compression_(compression) {
    png_ =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_png_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
  }
  ~png_encoder() {
    if (png_)
      png_destroy_write_struct(&png_, info_ ? &info_ : nullptr);
  }
  png_encoder(const png_encoder&) = delete;
  png_encoder& operator=(const png_encoder&) = delete;

  result<std::string> run() && {
    if (!png_ || !info_ || !guarded(png_, [this] { write(); }))
      return failure(error_kind::resource_exhausted, "cannot encode an image ", image_.dims(),
                     " as PNG file: ", complaint_.text);
    return std::move(file_);
  }

private:
  static void take(png_structp png, png_bytep bytes, size_t count) {
    auto full = false;
    try {
      static_cast<png_encoder*>(png_get_io_ptr(png))
          ->file_.append(reinterpret_cast<const char*>(bytes), count);
    } catch (...) { // may not fly through libpng
      full = true;
    }
    if (full)
      png_error(png, "out of memory");
  }

  void write() {
    static constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                     PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const auto& dims = image_.dims();
    auto sample = size_of(image_.type());
    png_set_write_fn(png_, this, take, nullptr);
    if (compression_ >= 0)
      png_set_compression_level(png_, compression_);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(dims[1]), static_cast<png_uint_32>(dims[0]),
                 static_cast<int>(8 * sample), colors[dims[2] - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (sample > 1 && std::endian::native == std::endian::little)
      png_set_swap(png_);
    auto row_bytes = static_cast<size_t>(dims[1] * dims[2]) * sample;
    auto* row = static_cast<png_const_bytep>(image_.raw());
    for (int64_t y = 0; y < dims[0]; ++y, row += row_bytes)
      png_write_row(png_, row);
    png_write_end(png_, nullptr);
  }

  const tensor& image_;
  int compression_;
  png_complaint complaint_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string file_;
};

status run_encode_png(kernel_context& at) {
  const auto& image = at.input(0);
  const auto& dims = image.dims();
  constexpr int64_t most = 1'000'000; // libpng's own limit for an axis
  if (dims.rank() != 3 || dims[2] < 1 || dims[2] > 4)
    return invalid("an image must be [height, width, channels] with 1 to 4 channels, got ", dims);
  if (image.elements() == 0 || dims[0] > most || dims[1] > most)
    return invalid("an image must have 1 to ", most, " rows and columns, got ", dims);
  TROUPE_ASSIGN(auto file, (png_encoder{image, static_cast<int>(at.state<int64_t>())}.run()));
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
