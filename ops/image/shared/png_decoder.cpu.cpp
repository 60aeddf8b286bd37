#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/image/shared/png.cpu.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace troupe::ops {
namespace {

class png_decoder {
public:
  png_decoder(std::string_view file, const png_options& options)
      : unread_(file), options_(options) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_png_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
  }
  ~png_decoder() {
    if (png_)
      png_destroy_read_struct(&png_, info_ ? &info_ : nullptr, nullptr);
  }
  png_decoder(const png_decoder&) = delete;
  png_decoder& operator=(const png_decoder&) = delete;

  result<tensor> run(allocator& memory) {
    if (!png_ || !info_)
      return failure(error_kind::resource_exhausted, "out of memory for decoding a PNG file");
    auto file_bytes = unread_.size();
    if (!guarded(png_, [this] { read_header(); }))
      return damaged();
    // Deflate expands one byte to at most 1032, and a pixel has at least one bit.
    TROUPE_TRY(check_size(height_, width_, channels_, file_bytes, 1032 * 8));
    TROUPE_ASSIGN(auto image,
                  tensor::make(options_.type, shape{height_, width_, channels_}, memory));
    if (!guarded(png_, [this] { ask_for_samples(); }))
      return damaged();
    std::vector<png_bytep> rows(static_cast<size_t>(height_));
    auto row_bytes = static_cast<size_t>(width_ * channels_) * size_of(options_.type);
    // Samples of 8 bits are read to the start of their row and expanded afterwards.
    if (png_get_rowbytes(png_, info_) > row_bytes)
      return failure(error_kind::internal, "libpng wants to write longer rows than asked for");
    for (size_t y = 0; y < rows.size(); ++y)
      rows[y] = static_cast<png_bytep>(image.raw()) + y * row_bytes;
    if (auto* first = rows.data(); !guarded(png_, [this, first] { read_rows(first); }))
      return damaged();
    if (spread_)
      for (auto* row : rows)
        spread(row, width_ * channels_);
    return image;
  }

private:
  status damaged() const { return invalid("the bytes are no PNG file: ", complaint_.text); }

  static void give(png_structp png, png_bytep to, size_t count) {
    auto& unread = static_cast<png_decoder*>(png_get_io_ptr(png))->unread_;
    if (count > unread.size())
      png_error(png, "it ends early");
    std::memcpy(to, unread.data(), count);
    unread.remove_prefix(count);
  }

  void read_header() {
    png_set_read_fn(png_, this, give);
    png_set_user_limits(png_, 1 << 30, 1 << 30); // check_size() limits the size
    png_read_info(png_, info_);
    height_ = png_get_image_height(png_, info_);
    width_ = png_get_image_width(png_, info_);
    auto color = png_get_color_type(png_, info_);
    transparent_ = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    if (options_.channels)
      channels_ = options_.channels;
    else if (color == PNG_COLOR_TYPE_PALETTE)
      channels_ = transparent_ ? 4 : 3;
    else
      channels_ = png_get_channels(png_, info_);
  }

  // Configures libpng's conversions. The library applies them in its own order.
  void ask_for_samples() {
    auto color = png_get_color_type(png_, info_);
    int depth = png_get_bit_depth(png_, info_);
    auto has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
    if (channels_ % 2 == 0 && !has_alpha) {
      if (transparent_)
        png_set_tRNS_to_alpha(png_);
      else
        png_set_add_alpha(png_, (1u << std::max(depth, 8)) - 1, PNG_FILLER_AFTER);
    } else if (channels_ % 2 != 0 && (has_alpha || transparent_)) {
      png_set_strip_alpha(png_);
    }
    if (depth > 8 && options_.type == dtype::u8)
      png_set_strip_16(png_);
    spread_ = depth <= 8 && options_.type == dtype::u16;
    png_set_packing(png_);
    png_set_interlace_handling(png_);
    if (depth > 8 && std::endian::native == std::endian::little)
      png_set_swap(png_);
    if (color == PNG_COLOR_TYPE_PALETTE)
      png_set_palette_to_rgb(png_);
    auto is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (is_gray && depth < 8)
      png_set_expand_gray_1_2_4_to_8(png_);
    if (channels_ < 3 && !is_gray)
      png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    else if (channels_ >= 3 && is_gray)
      png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
  }

  void read_rows(png_bytepp rows) {
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
  }

  // Expands 8-bit samples to 16 bits of the same brightness, from the end backwards.
  static void spread(png_bytep row, int64_t count) {
    auto* wide = reinterpret_cast<uint16_t*>(row);
    while (count-- > 0)
      wide[count] = static_cast<uint16_t>(row[count] * 257);
  }

  std::string_view unread_;
  const png_options& options_;
  png_complaint complaint_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int64_t height_ = 0, width_ = 0, channels_ = 0;
  bool transparent_ = false, spread_ = false;
};

} // namespace

result<tensor> read_png(std::string_view file, const png_options& options, allocator& memory) {
  if (!is_png(file))
    return invalid("the bytes are no PNG file: they do not begin as one");
  return png_decoder{file, options}.run(memory);
}

} // namespace troupe::ops
