#include "troupe/serialization/checkpoint/safetensors_types.hpp"

#include <array>
#include <charconv>

namespace troupe::safetensors {
namespace {

constexpr auto types = std::to_array<format_type>({
    {"BOOL", dtype::boolean, 8},     {"U8", dtype::u8, 8},        {"I8", dtype::i8, 8},
    {"U16", dtype::u16, 16},         {"I16", dtype::i16, 16},     {"F16", dtype::f16, 16},
    {"BF16", dtype::bf16, 16},       {"U32", dtype::u32, 32},     {"I32", dtype::i32, 32},
    {"F32", dtype::f32, 32},         {"U64", dtype::u64, 64},     {"I64", dtype::i64, 64},
    {"F64", dtype::f64, 64},         {"C64", dtype::c64, 64},     {"F4", dtype::none, 4},
    {"F6_E2M3", dtype::none, 6},     {"F6_E3M2", dtype::none, 6}, {"F8_E5M2", dtype::none, 8},
    {"F8_E4M3", dtype::none, 8},     {"F8_E8M0", dtype::none, 8}, {"F8_E4M3FNUZ", dtype::none, 8},
    {"F8_E5M2FNUZ", dtype::none, 8},
});

} // namespace

const format_type* find_type(std::string_view name) noexcept {
  for (const auto& known : types)
    if (known.name == name)
      return &known;
  return nullptr;
}

std::string_view stored_name(dtype type) noexcept {
  if (type == dtype::string)
    return "U8";
  if (type == dtype::c128)
    return "F64";
  for (const auto& known : types)
    if (known.type == type)
      return known.name;
  return "";
}

std::string mark_text(dtype type, const shape& dims) { return concat(type, dims); }

result<std::pair<dtype, shape>> parse_mark(std::string_view text) {
  auto bracket = text.find('[');
  auto type = dtype_from(text.substr(0, bracket));
  if (!type || !any_type.contains(*type) || bracket == text.npos)
    return invalid("no type and shape");
  std::vector<int64_t> extents;
  for (auto unparsed = text.substr(bracket + 1); unparsed != "]";) {
    int64_t extent = 0;
    auto [end, problem] =
        std::from_chars(unparsed.data(), unparsed.data() + unparsed.size(), extent);
    if (problem != std::errc{})
      return invalid("no shape");
    unparsed.remove_prefix(static_cast<size_t>(end - unparsed.data()));
    if (unparsed.starts_with(',') && unparsed.size() > 1)
      unparsed.remove_prefix(1);
    else if (unparsed != "]")
      return invalid("no shape");
    extents.push_back(extent);
  }
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  if (mark_text(*type, dims) != text) // only the canonical text is valid, not "[01]"
    return invalid("no shape");
  return std::pair{*type, dims};
}

std::optional<uint64_t> multiplied(uint64_t a, uint64_t b) noexcept {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > uint64_t{1} << 62)
    return {};
  return product;
}

} // namespace troupe::safetensors
