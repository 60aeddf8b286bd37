#include "troupe/serialization/arrays/npy.hpp"

#include "troupe/serialization/arrays/npy_header.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr size_t max_text_bytes = size_t{1} << 30;
constexpr size_t max_empty_strings = size_t{1} << 20; // which take no bytes in a file

// The size of the unit that is reversed to change the byte order: each half of a complex number.
size_t number_bytes(dtype type) {
  return type == dtype::c64 || type == dtype::c128 ? size_of(type) / 2 : size_of(type);
}

void reverse_byte_order(std::span<std::byte> bytes, size_t unit) {
  for (size_t i = 0; i < bytes.size(); i += unit)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
}

// Appends a character as UTF-8; returns false for an invalid code point.
bool append_utf8(std::string& to, uint32_t code_point) {
  auto append_continuation = [&](int shift) {
    to += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    to += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    to += static_cast<char>(0xc0 | code_point >> 6);
    append_continuation(0);
  } else if (code_point < 0x10000) {
    if (code_point >= 0xd800 && code_point < 0xe000)
      return false;
    to += static_cast<char>(0xe0 | code_point >> 12);
    append_continuation(6);
    append_continuation(0);
  } else if (code_point < 0x110000) {
    to += static_cast<char>(0xf0 | code_point >> 18);
    append_continuation(12);
    append_continuation(6);
    append_continuation(0);
  } else {
    return false;
  }
  return true;
}

class npy_reader {
public:
  npy_reader(const npy_header& header, std::span<const std::byte> data)
      : header_(header), data_(data) {}

  result<tensor> read() const {
    auto count = static_cast<size_t>(header_.dims.elements());
    auto element_bytes = header_.element.bytes;
    if (element_bytes == 0
            ? !data_.empty() || count > max_empty_strings
            : data_.size() % element_bytes != 0 || count != data_.size() / element_bytes)
      return failure(error_kind::data_loss, "damaged .npy: ", header_.dims, " elements of ",
                     element_bytes, " bytes do not take its ", data_.size(), " bytes");
    TROUPE_ASSIGN(auto value, tensor::make(header_.element.type, header_.dims));
    if (header_.fortran_order && header_.dims.rank() > 1) {
      for (size_t i = 0; i < count; ++i)
        TROUPE_TRY(read_element(value, i, in_fortran_order(i)));
    } else if (header_.element.type == dtype::string || header_.element.type == dtype::boolean) {
      for (size_t i = 0; i < count; ++i)
        TROUPE_TRY(read_element(value, i, i));
    } else if (count > 0) {
      std::memcpy(value.raw(), data_.data(), data_.size());
    }
    if (header_.element.big_endian && header_.element.type != dtype::string)
      reverse_byte_order({static_cast<std::byte*>(value.raw()), value.bytes()},
                         number_bytes(value.type()));
    return value;
  }

private:
  // Converts a position in row-major order to the position in Fortran order.
  size_t in_fortran_order(size_t row_major) const {
    size_t position = 0, stride = 1;
    auto quotient = row_major;
    std::array<size_t, max_rank> indices{};
    for (int axis = header_.dims.rank() - 1; axis >= 0; --axis) {
      auto extent = static_cast<size_t>(header_.dims[axis]);
      indices[static_cast<size_t>(axis)] = quotient % extent;
      quotient /= extent;
    }
    for (int axis = 0; axis < header_.dims.rank(); ++axis) {
      position += indices[static_cast<size_t>(axis)] * stride;
      stride *= static_cast<size_t>(header_.dims[axis]);
    }
    return position;
  }

  status read_element(tensor& to, size_t i, size_t from) const {
    auto bytes = data_.subspan(from * header_.element.bytes, header_.element.bytes);
    if (to.type() == dtype::boolean)
      to.data<bool>()[i] = bytes[0] != std::byte{};
    else if (to.type() != dtype::string)
      std::memcpy(static_cast<std::byte*>(to.raw()) + i * bytes.size(), bytes.data(), bytes.size());
    else if (header_.element.wide_text)
      return read_wide_text(bytes, to.data<std::string>()[i]);
    else
      to.data<std::string>()[i] = read_text(bytes);
    return {};
  }

  static std::string read_text(std::span<const std::byte> bytes) {
    std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    text.resize(text.find_last_not_of('\0') + 1); // npos + 1 is 0
    return text;
  }

  status read_wide_text(std::span<const std::byte> bytes, std::string& to) const {
    size_t zeros = 0; // appended only if another character follows
    for (size_t i = 0; i < bytes.size(); i += 4) {
      uint32_t code_point = 0;
      for (size_t k = 0; k < 4; ++k)
        code_point = code_point << 8 |
                     std::to_integer<uint32_t>(bytes[i + (header_.element.big_endian ? k : 3 - k)]);
      if (code_point == 0) {
        ++zeros;
        continue;
      }
      to.append(std::exchange(zeros, 0), '\0');
      if (!append_utf8(to, code_point))
        return failure(error_kind::data_loss, "damaged .npy: ", code_point, " is not a character");
    }
    return {};
  }

  const npy_header& header_;
  std::span<const std::byte> data_;
};

std::string_view name_of(dtype type) {
  switch (type) {
    case dtype::none:
    case dtype::variant:
    case dtype::string: break;
    case dtype::boolean: return "|b1";
    case dtype::u8: return "|u1";
    case dtype::u16: return "<u2";
    case dtype::u32: return "<u4";
    case dtype::u64: return "<u8";
    case dtype::i8: return "|i1";
    case dtype::i16: return "<i2";
    case dtype::i32: return "<i4";
    case dtype::i64: return "<i8";
    case dtype::f16: return "<f2";
    case dtype::bf16: return "|V2";
    case dtype::f32: return "<f4";
    case dtype::f64: return "<f8";
    case dtype::c64: return "<c8";
    case dtype::c128: return "<c16";
  }
  return "";
}

result<std::string> write_strings(const tensor& value) {
  size_t longest = 1;
  for (const auto& text : value.values<std::string>()) {
    if (text.ends_with('\0'))
      return invalid("NumPy's text of fixed length cannot end with a zero byte, as '",
                     text.substr(0, 20), "' does");
    longest = std::max(longest, text.size());
  }
  auto count = value.values<std::string>().size();
  if (longest > max_text_bytes || (count > 0 && longest > max_text_bytes / count))
    return failure(error_kind::resource_exhausted, count, " strings of ", longest,
                   " bytes each are too much for NumPy's text of fixed length");
  auto content = npy_header_text(concat("|S", longest), value.dims());
  for (const auto& text : value.values<std::string>())
    content.append(text).append(longest - text.size(), '\0');
  return content;
}

} // namespace

result<tensor> read_npy(std::span<const std::byte> bytes) {
  TROUPE_ASSIGN(auto header, npy_header::parse(bytes));
  return npy_reader{header, bytes.subspan(header.bytes)}.read();
}

result<std::string> write_npy(const tensor& value) {
  if (value.empty())
    return invalid("there is nothing to write: the tensor holds nothing");
  if (value.type() == dtype::string)
    return write_strings(value);
  auto content = npy_header_text(name_of(value.type()), value.dims());
  content.append(static_cast<const char*>(value.raw()), value.bytes());
  return content;
}

} // namespace troupe
