#include "troupe/serialization/reports/inspection_json.hpp"

#include "troupe/runtime/types/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

using ordered = nlohmann::ordered_json;

ordered write(const inspection& inspected) {
  auto properties = ordered::object();
  for (const auto& property : inspected.properties)
    if (const auto* number = std::get_if<double>(&property.value);
        number && !std::isfinite(*number))
      properties[property.name] = concat(*number); // JSON has no infinities and no NaN
    else
      std::visit([&](const auto& value) { properties[property.name] = value; }, property.value);
  auto children = ordered::array();
  for (const auto& child : inspected.children)
    children.push_back(write(child));
  ordered object{{"ref", inspected.ref},
                 {"kind", inspected.kind},
                 {"properties", std::move(properties)},
                 {"children", std::move(children)}};
  if (inspected.omitted_children > 0)
    object["left_out"] = inspected.omitted_children;
  return object;
}

result<property_value> read_value(const ordered& from) {
  if (from.is_boolean())
    return property_value{from.get<bool>()};
  if (from.is_number_float())
    return property_value{from.get<double>()};
  if (from.is_number_unsigned() && from.get<uint64_t>() > uint64_t{INT64_MAX})
    return invalid("a number is too large: ", from.get<uint64_t>());
  if (from.is_number_integer())
    return property_value{from.get<int64_t>()};
  if (from.is_string())
    return property_value{from.get<std::string>()};
  return invalid("a property is neither a flag, a number nor a text");
}

result<inspection> read(const ordered& from, int depth, size_t& parts) {
  if (depth > inspection_limits::depth + 1 || ++parts > inspection_limits::parts)
    return invalid("an inspection is deeper than ", inspection_limits::depth, ", or has more than ",
                   inspection_limits::parts, " parts");
  if (!from.is_object())
    return invalid("an inspection is not an object");
  inspection parsed;
  for (const auto& [key, value] : from.items()) {
    if (key == "ref" && value.is_string()) {
      parsed.ref = value.get<std::string>();
    } else if (key == "kind" && value.is_string()) {
      parsed.kind = value.get<std::string>();
    } else if (key == "left_out" && value.is_number_unsigned()) {
      parsed.omitted_children = value.get<uint64_t>();
    } else if (key == "properties" && value.is_object()) {
      for (const auto& [name, content] : value.items()) {
        TROUPE_ASSIGN(auto property, read_value(content));
        parsed.add(name, std::move(property));
      }
    } else if (key == "children" && value.is_array()) {
      for (const auto& child : value) {
        TROUPE_ASSIGN(auto parsed_child, read(child, depth + 1, parts));
        parsed.children.push_back(std::move(parsed_child));
      }
    } else {
      return invalid("an inspection has an unexpected '", key, "'");
    }
  }
  if (parsed.ref.empty() || parsed.kind.empty())
    return invalid("an inspection has no ref or no kind");
  return parsed;
}

// Checked before parsing, because the library's parser recurses as deep as the text is nested.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char character = text[i];
    if (is_quoted && character == '\\')
      ++i;
    else if (character == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && (character == '{' || character == '['))
      ++depth;
    else if (!is_quoted && (character == '}' || character == ']'))
      --depth;
    if (depth > 2 * (inspection_limits::depth + 3))
      return true;
  }
  return false;
}

} // namespace

std::string to_json(const inspection& inspected) {
  return printable_json(write(inspected).dump(-1, ' ', false, ordered::error_handler_t::replace));
}

result<inspection> parse_inspection(std::string_view text) {
  if (is_too_deep(text))
    return invalid("an inspection is deeper than ", inspection_limits::depth);
  auto parsed = ordered::parse(text, nullptr, false);
  if (parsed.is_discarded())
    return invalid("an inspection is not JSON");
  size_t parts = 0;
  return read(parsed, 0, parts);
}

result<tensor> to_bytes(const inspection& inspected) {
  auto text = to_json(inspected);
  TROUPE_ASSIGN(auto bytes, tensor::make(dtype::u8, shape{static_cast<int64_t>(text.size())}));
  std::ranges::copy(text, bytes.data<uint8_t>());
  return bytes;
}

result<inspection> parse_inspection(const tensor& bytes) {
  if (bytes.empty() || bytes.type() != dtype::u8)
    return invalid("an inspection is not a u8 tensor");
  return parse_inspection(std::string_view{reinterpret_cast<const char*>(bytes.data<uint8_t>()),
                                           static_cast<size_t>(bytes.elements())});
}

} // namespace troupe
