#include "troupe/serialization/arrays/npy_header.hpp"

#include <charconv>
#include <cstring>
#include <optional>

namespace troupe {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t alignment = 64;

template <class... Ts>
status damaged_npy(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged .npy: ", parts...);
}

// The few words of Python that headers consist of.
class python_reader {
public:
  explicit python_reader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  status expect(char wanted) {
    return take(wanted) ? status{}
                        : damaged_npy("its header has no '", wanted, "' before '", rest(), "'");
  }

  result<std::string_view> quoted() {
    auto quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    auto end = quote ? rest_.find(quote) : rest_.npos;
    if (end == rest_.npos)
      return damaged_npy("its header has no text before '", rest(), "'");
    auto text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  result<bool> boolean() {
    skip_blanks();
    for (auto word : {std::string_view{"True"}, std::string_view{"False"}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    return damaged_npy("its header has neither True nor False before '", rest(), "'");
  }

  result<int64_t> integer() {
    skip_blanks();
    int64_t value = 0;
    auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{})
      return damaged_npy("its header has no number before '", rest(), "'");
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    take('L'); // as Python 2 wrote it
    return value;
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  std::string rest() const { return std::string{rest_.substr(0, 20)}; }

private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

result<shape> read_shape(python_reader& in) {
  TROUPE_TRY(in.expect('('));
  std::vector<int64_t> extents;
  while (!in.take(')')) {
    TROUPE_ASSIGN(auto extent, in.integer());
    extents.push_back(extent);
    if (in.take(','))
      continue;
    TROUPE_TRY(in.expect(')'));
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
  npy_type made;
  auto rest = text;
  made.big_endian = rest.front() == '>';
  if (std::string_view{"<>=|"}.find(rest.front()) != std::string_view::npos)
    rest.remove_prefix(1);
  if (rest.empty())
    return unknown();
  auto kind = rest.front();
  rest.remove_prefix(1);
  uint32_t size = 0;
  auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
  if (error != std::errc{} || stop != rest.data() + rest.size() || size > (1u << 30))
    return unknown();
  made.bytes = size;
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
  for (const auto& each : known)
    if (each.kind == kind && each.size == size)
      made.type = each.type;
  if (kind == 'S' || kind == 'a' || kind == 'U')
    made.type = dtype::string;
  made.wide_text = kind == 'U';
  if (made.wide_text)
    made.bytes *= 4;
  return made.type == dtype::none ? result<npy_type>{unknown()} : made;
}

result<npy_header> npy_header::parse(std::span<const std::byte> file) {
  auto prefix = magic.size() + 2;
  if (file.size() < prefix || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    return damaged_npy("it does not begin as one");
  auto version = std::to_integer<int>(file[magic.size()]);
  if (version < 1 || version > 3)
    return failure(error_kind::unimplemented, ".npy of version ", version, " is not known");
  auto length_bytes = version == 1 ? size_t{2} : size_t{4};
  if (file.size() < prefix + length_bytes)
    return damaged_npy("its header is cut off");
  auto length = size_t{little_endian(file.subspan(prefix, length_bytes))};
  prefix += length_bytes;
  if (length > file.size() - prefix)
    return damaged_npy("its header is cut off");
  python_reader in{{reinterpret_cast<const char*>(file.data()) + prefix, length}};

  std::optional<npy_type> element;
  std::optional<bool> fortran_order;
  std::optional<shape> dims;
  TROUPE_TRY(in.expect('{'));
  while (!in.take('}')) {
    TROUPE_ASSIGN(auto key, in.quoted());
    TROUPE_TRY(in.expect(':'));
    if (key == "descr") {
      if (in.take('['))
        return failure(error_kind::unimplemented, "an array of records has no element type");
      TROUPE_ASSIGN(auto text, in.quoted());
      TROUPE_ASSIGN(element, npy_type::parse(text));
    } else if (key == "fortran_order") {
      TROUPE_ASSIGN(fortran_order, in.boolean());
    } else if (key == "shape") {
      TROUPE_ASSIGN(dims, read_shape(in));
    } else {
      return damaged_npy("its header says '", key, "', which nobody knows");
    }
    if (!in.take(',')) {
      TROUPE_TRY(in.expect('}'));
      break;
    }
  }
  if (!in.at_end())
    return damaged_npy("'", in.rest(), "' follows its header");
  if (!element || !fortran_order || !dims)
    return damaged_npy("its header lacks descr, fortran_order or shape");
  return npy_header{*element, *fortran_order, *dims, prefix + length};
}

std::string npy_header_text(std::string_view type, const shape& dims) {
  std::string extents;
  for (auto extent : dims)
    extents += concat(extent, ", ");
  if (dims.rank() > 1) // a tuple of one needs its comma
    extents.resize(extents.size() - 2);
  else if (dims.rank() == 1)
    extents.pop_back();
  auto text = concat("{'descr': '", type, "', 'fortran_order': False, 'shape': (", extents, "), }");
  auto prefix = magic.size() + 4;
  text.resize((prefix + text.size() + 1 + alignment - 1) / alignment * alignment - prefix, ' ');
  text.back() = '\n';
  std::string all{magic};
  all += {'\1', '\0', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return all + text;
}

} // namespace troupe
