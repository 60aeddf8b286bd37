#include "troupe/ops/image/shared/image_file.hpp"

#include <cstring>

namespace troupe::ops {
namespace {

// All numbers of a BMP file are little endian.
template <class T>
T number_in(std::string_view file, size_t at) {
  T number{};
  for (size_t i = 0; i < sizeof(T); ++i)
    number |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(file[at + i])) << (8 * i));
  return number;
}

struct bmp_header {
  int64_t begin, width,
      height; // of the pixels; the height is negative where the first line is the top
  int64_t channels, row_bytes;
};

result<bmp_header> read_header(std::string_view file) {
  constexpr size_t least = 34; // up to the compression
  if (file.size() < least)
    return invalid("a BMP file has at least ", least, " bytes, got ", file.size());
  bmp_header found{.begin = static_cast<int32_t>(number_in<uint32_t>(file, 10)),
                   .width = static_cast<int32_t>(number_in<uint32_t>(file, 18)),
                   .height = static_cast<int32_t>(number_in<uint32_t>(file, 22)),
                   .channels = number_in<uint16_t>(file, 28) / 8,
                   .row_bytes = 0};
  if (found.channels != 1 && found.channels != 3 && found.channels != 4)
    return invalid("a BMP file must have 8, 24 or 32 bits for a pixel, got ",
                   number_in<uint16_t>(file, 28));
  // 0: none; 3: the masks of the colors are given, which are the usual ones in practice.
  if (auto how = number_in<uint32_t>(file, 30); how != 0 && how != 3)
    return invalid("the BMP file is compressed (", how, "), which is not read");
  auto lines = found.height < 0 ? -found.height : found.height;
  if (found.begin < 0)
    return invalid("the BMP file says that its pixels begin at ", found.begin);
  TROUPE_TRY(check_size(lines, found.width, 4, file.size(), 1));
  found.row_bytes = (found.channels * found.width + 3) / 4 * 4;
  auto end = found.begin + (lines - 1) * found.row_bytes + found.width * found.channels;
  if (end > static_cast<int64_t>(file.size()))
    return invalid("the BMP file ends early: its pixels take ", end, " bytes, and it has ",
                   file.size());
  return found;
}

// Colors stand there as blue, green, red and perhaps alpha.
void convert_pixel(const uint8_t* from, int64_t channels, uint8_t* to, int64_t wanted) {
  if (channels == 1) {
    for (int64_t i = 0; i < std::min<int64_t>(wanted, 3); ++i)
      to[i] = from[0];
  } else {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
  }
  if (wanted == 4)
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
  auto wanted = channels == 0 ? header.channels : channels;
  TROUPE_ASSIGN(auto made, tensor::make(dtype::u8, shape{lines, header.width, wanted}, memory));
  auto* to = made.data<uint8_t>();
  const auto* pixels = reinterpret_cast<const uint8_t*>(file.data()) + header.begin;
  for (int64_t y = 0; y < lines; ++y) {
    const auto* from = pixels + (header.height < 0 ? y : lines - 1 - y) * header.row_bytes;
    for (int64_t x = 0; x < header.width; ++x, from += header.channels, to += wanted)
      convert_pixel(from, header.channels, to, wanted);
  }
  return made;
}

} // namespace troupe::ops
