#include "troupe/ops/kernel/text.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <algorithm>

namespace troupe::ops::string_case_cpu {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return text;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  });
  return text;
}

} // namespace

extern constexpr kernel_def string_lower_cpu{
    .op = "StringLower",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, lower_case); }}},
};

extern constexpr kernel_def string_upper_cpu{
    .op = "StringUpper",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, upper_case); }}},
};

extern constexpr kernel_def string_strip_cpu{
    .op = "StringStrip",
    .run = {{dtype::none,
             [](kernel_context& at) {
               return map_strings<std::string>(
                   at, [](const std::string& text) { return std::string{stripped(text)}; });
             }}},
};

} // namespace troupe::ops::string_case_cpu
