#include "troupe/ops/image/shared/image_file.hpp"

#include <cstring>

namespace troupe::ops {
namespace {

// All numbers in a BMP file are little-endian.
template <class T>
T number_in(std::string_view file, size_t at) {
  T number{};
  for (size_t i = 0; i < sizeof(T); ++i)
    number |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(file[at + i])) << (8 * i));
  return number;
}

struct bmp_header {
  int64_t begin, width,
      height; // offset of the pixels; the height is negative where the first line is the top
  int64_t channels, row_bytes;
};

result<bmp_header> read_header(std::string_view file) {
  constexpr size_t min_bytes = 34; // the header up to the compression
  if (file.size() < min_bytes)
    return invalid("a BMP file has at least ", min_bytes, " bytes, got ", file.size());
  bmp_header header{.begin = static_cast<int32_t>(number_in<uint32_t>(file, 10)),
                    .width = static_cast<int32_t>(number_in<uint32_t>(file, 18)),
                    .height = static_cast<int32_t>(number_in<uint32_t>(file, 22)),
                    .channels = number_in<uint16_t>(file, 28) / 8,
                    .row_bytes = 0};
  if (header.channels != 1 && header.channels != 3 && header.channels != 4)
    return invalid("a BMP file must have 8, 24 or 32 bits for a pixel, got ",
                   number_in<uint16_t>(file, 28));
  // 0: uncompressed; 3: the color masks are given, which in practice are the usual ones.
  if (auto compression = number_in<uint32_t>(file, 30); compression != 0 && compression != 3)
    return invalid("the BMP file is compressed (", compression, "), which is not read");
  auto lines = header.height < 0 ? -header.height : header.height;
  if (header.begin < 0)
    return invalid("the BMP file says that its pixels begin at ", header.begin);
  TROUPE_TRY(check_size(lines, header.width, 4, file.size(), 1));
  header.row_bytes = (header.channels * header.width + 3) / 4 * 4;
  auto end = header.begin + (lines - 1) * header.row_bytes + header.width * header.channels;
  if (end > static_cast<int64_t>(file.size()))
    return invalid("the BMP file ends early: its pixels take ", end, " bytes, and it has ",
                   file.size());
  return header;
}

// Colors are stored as blue, green, red and optionally alpha.
void convert_pixel(const uint8_t* from, int64_t channels, uint8_t* to, int64_t out_channels) {
  if (channels == 1) {
    for (int64_t i = 0; i < std::min<int64_t>(out_channels, 3); ++i)
      to[i] = from[0];
  } else {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
  }
  if (out_channels == 4)
    to[3] = channels == 4 ? from[3] : 255;
}

} // namespace

result<tensor> read_bmp(std::string_view file, int channels, allocator& memory) {
  if (!is_bmp(file))
    return invalid("the bytes are no BMP file: they do not begin as one");
  if (channels == 1)
    return invalid("channels must be 0, 3 or 4 for a BMP file, got 1");
  TROUPE_ASSIGN(auto header, read_header(file));
  auto lines = header.height < 0 ? -header.height : header.height;
  auto out_channels = channels == 0 ? header.channels : channels;
  TROUPE_ASSIGN(auto image,
                tensor::make(dtype::u8, shape{lines, header.width, out_channels}, memory));
  auto* to = image.data<uint8_t>();
  const auto* pixels = reinterpret_cast<const uint8_t*>(file.data()) + header.begin;
  for (int64_t y = 0; y < lines; ++y) {
    const auto* from = pixels + (header.height < 0 ? y : lines - 1 - y) * header.row_bytes;
    for (int64_t x = 0; x < header.width; ++x, from += header.channels, to += out_channels)
      convert_pixel(from, header.channels, to, out_channels);
  }
  return image;
}

} // namespace troupe::ops
