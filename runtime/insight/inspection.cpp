#include "troupe/runtime/insight/inspection.hpp"

namespace troupe {

bool inspection_scope::includes(std::string_view kind) const noexcept {
  std::string_view remaining_kinds{kinds};
  if (remaining_kinds.empty())
    return true;
  for (;;) {
    auto comma = remaining_kinds.find(',');
    if (remaining_kinds.substr(0, comma) == kind)
      return true;
    if (comma == remaining_kinds.npos)
      return false;
    remaining_kinds.remove_prefix(comma + 1);
  }
}

double number_of(const property_value* value) noexcept {
  if (!value)
    return 0;
  if (auto* integer = std::get_if<int64_t>(value))
    return static_cast<double>(*integer);
  if (auto* real = std::get_if<double>(value))
    return *real;
  auto* flag = std::get_if<bool>(value);
  return flag && *flag ? 1 : 0;
}

std::string text_of(const property_value* value) {
  auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : std::string{};
}

} // namespace troupe
