#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/image/shared/png.cpu.hpp"

#include <bit>

namespace troupe::ops {
namespace {

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
    } catch (...) { // exceptions must not pass through libpng
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

} // namespace

result<std::string> write_png(const tensor& image, int compression) {
  const auto& dims = image.dims();
  constexpr int64_t max_extent = 1'000'000; // libpng's limit per axis
  if (dims.rank() != 3 || dims[2] < 1 || dims[2] > 4)
    return invalid("an image must be [height, width, channels] with 1 to 4 channels, got ", dims);
  if (image.elements() == 0 || dims[0] > max_extent || dims[1] > max_extent)
    return invalid("an image must have 1 to ", max_extent, " rows and columns, got ", dims);
  return png_encoder{image, compression}.run();
}

} // namespace troupe::ops
