#include "troupe/runtime/insight/inspection.hpp"

namespace troupe {

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
