#include "troupe/runtime/insight/inspection.hpp"

namespace troupe {

bool inspection_scope::includes(std::string_view kind) const noexcept {
  std::string_view rest{only};
  if (rest.empty())
    return true;
  for (;;) {
    auto comma = rest.find(',');
    if (rest.substr(0, comma) == kind)
      return true;
    if (comma == rest.npos)
      return false;
    rest.remove_prefix(comma + 1);
  }
}

double number_of(const property_value* value) noexcept {
  if (!value)
    return 0;
  if (auto* whole = std::get_if<int64_t>(value))
    return static_cast<double>(*whole);
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
