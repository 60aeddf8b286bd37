#include "troupe/serialization/arrays/npy_header.hpp"

#include <charconv>
#include <cstring>
#include <optional>

namespace troupe {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t header_alignment = 64;

template <class... Ts>
status damaged_npy(const Ts&... message) {
  return failure(error_kind::data_loss, "damaged .npy: ", message...);
}

// Reads the Python literals that headers consist of.
class python_reader {
public:
  explicit python_reader(std::string_view text) : unread_(text) {}

  bool take(char expected) {
    skip_blanks();
    if (!unread_.starts_with(expected))
      return false;
    unread_.remove_prefix(1);
    return true;
  }

  status expect(char expected) {
    return take(expected)
               ? status{}
               : damaged_npy("its header has no '", expected, "' before '", unread(), "'");
  }

  result<std::string_view> quoted() {
    auto quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    auto end = quote ? unread_.find(quote) : unread_.npos;
    if (end == unread_.npos)
      return damaged_npy("its header has no text before '", unread(), "'");
    auto text = unread_.substr(0, end);
    unread_.remove_prefix(end + 1);
    return text;
  }

  result<bool> boolean() {
    skip_blanks();
    for (auto word : {std::string_view{"True"}, std::string_view{"False"}})
      if (unread_.starts_with(word)) {
        unread_.remove_prefix(word.size());
        return word == "True";
      }
    return damaged_npy("its header has neither True nor False before '", unread(), "'");
  }

  result<int64_t> integer() {
    skip_blanks();
    int64_t value = 0;
    auto [stop, error] = std::from_chars(unread_.data(), unread_.data() + unread_.size(), value);
    if (error != std::errc{})
      return damaged_npy("its header has no number before '", unread(), "'");
    unread_.remove_prefix(static_cast<size_t>(stop - unread_.data()));
    take('L'); // as Python 2 wrote it
    return value;
  }

  bool at_end() {
    skip_blanks();
    return unread_.empty();
  }
  std::string unread() const { return std::string{unread_.substr(0, 20)}; }

private:
  void skip_blanks() {
    while (!unread_.empty() && (unread_.front() == ' ' || unread_.front() == '\n'))
      unread_.remove_prefix(1);
  }

  std::string_view unread_;
};

result<shape> read_shape(python_reader& reader) {
  TROUPE_TRY(reader.expect('('));
  std::vector<int64_t> extents;
  while (!reader.take(')')) {
    TROUPE_ASSIGN(auto extent, reader.integer());
    extents.push_back(extent);
    if (reader.take(','))
      continue;
    TROUPE_TRY(reader.expect(')'));
    break;
  }
  return shape::make(extents);
}

uint32_t little_endian(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  return value;
}

} // namespace

result<npy_type> npy_type::parse(std::string_view text) {
  auto unknown = [&] {
    return failure(error_kind::unimplemented, "there is no element type for NumPy's '", text, "'");
  };
  if (text.empty())
    return unknown();
  npy_type parsed;
  auto unread = text;
  parsed.big_endian = unread.front() == '>';
  if (std::string_view{"<>=|"}.find(unread.front()) != std::string_view::npos)
    unread.remove_prefix(1);
  if (unread.empty())
    return unknown();
  auto kind = unread.front();
  unread.remove_prefix(1);
  uint32_t size = 0;
  auto [stop, error] = std::from_chars(unread.data(), unread.data() + unread.size(), size);
  if (error != std::errc{} || stop != unread.data() + unread.size() || size > (1u << 30))
    return unknown();
  parsed.bytes = size;
  struct {
    char kind;
    uint32_t size;
    dtype type;
  } constexpr known[] = {
      {'b', 1, dtype::boolean}, {'u', 1, dtype::u8},    {'u', 2, dtype::u16},  {'u', 4, dtype::u32},
      {'u', 8, dtype::u64},     {'i', 1, dtype::i8},    {'i', 2, dtype::i16},  {'i', 4, dtype::i32},
      {'i', 8, dtype::i64},     {'f', 2, dtype::f16},   {'f', 4, dtype::f32},  {'f', 8, dtype::f64},
      {'c', 8, dtype::c64},     {'c', 16, dtype::c128}, {'V', 2, dtype::bf16},
  };
  for (const auto& known_type : known)
    if (known_type.kind == kind && known_type.size == size)
      parsed.type = known_type.type;
  if (kind == 'S' || kind == 'a' || kind == 'U')
    parsed.type = dtype::string;
  parsed.wide_text = kind == 'U';
  if (parsed.wide_text)
    parsed.bytes *= 4;
  return parsed.type == dtype::none ? result<npy_type>{unknown()} : parsed;
}

result<npy_header> npy_header::parse(std::span<const std::byte> file) {
  auto prefix = magic.size() + 2;
  if (file.size() < prefix || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    return damaged_npy("it does not begin with the magic bytes");
  auto version = std::to_integer<int>(file[magic.size()]);
  if (version < 1 || version > 3)
    return failure(error_kind::unimplemented, ".npy of version ", version, " is not supported");
  auto length_bytes = version == 1 ? size_t{2} : size_t{4};
  if (file.size() < prefix + length_bytes)
    return damaged_npy("its header is cut off");
  auto length = size_t{little_endian(file.subspan(prefix, length_bytes))};
  prefix += length_bytes;
  if (length > file.size() - prefix)
    return damaged_npy("its header is cut off");
  python_reader reader{{reinterpret_cast<const char*>(file.data()) + prefix, length}};

  std::optional<npy_type> element;
  std::optional<bool> fortran_order;
  std::optional<shape> dims;
  TROUPE_TRY(reader.expect('{'));
  while (!reader.take('}')) {
    TROUPE_ASSIGN(auto key, reader.quoted());
    TROUPE_TRY(reader.expect(':'));
    if (key == "descr") {
      if (reader.take('['))
        return failure(error_kind::unimplemented, "an array of records has no element type");
      TROUPE_ASSIGN(auto text, reader.quoted());
      TROUPE_ASSIGN(element, npy_type::parse(text));
    } else if (key == "fortran_order") {
      TROUPE_ASSIGN(fortran_order, reader.boolean());
    } else if (key == "shape") {
      TROUPE_ASSIGN(dims, read_shape(reader));
    } else {
      return damaged_npy("its header has the unknown key '", key, "'");
    }
    if (!reader.take(',')) {
      TROUPE_TRY(reader.expect('}'));
      break;
    }
  }
  if (!reader.at_end())
    return damaged_npy("'", reader.unread(), "' follows its header");
  if (!element || !fortran_order || !dims)
    return damaged_npy("its header lacks descr, fortran_order or shape");
  return npy_header{*element, *fortran_order, *dims, prefix + length};
}

std::string npy_header_text(std::string_view type, const shape& dims) {
  std::string extents;
  for (auto extent : dims)
    extents += concat(extent, ", ");
  if (dims.rank() > 1) // only a tuple of one element needs its last comma
    extents.resize(extents.size() - 2);
  else if (dims.rank() == 1)
    extents.pop_back();
  auto text = concat("{'descr': '", type, "', 'fortran_order': False, 'shape': (", extents, "), }");
  auto prefix = magic.size() + 4;
  text.resize((prefix + text.size() + 1 + header_alignment - 1) / header_alignment * header_alignment - prefix, ' ');
  text.back() = '\n';
  std::string header{magic};
  header += {'\1', '\0', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace troupe
