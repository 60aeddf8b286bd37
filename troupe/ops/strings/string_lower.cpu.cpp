#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <algorithm>

namespace troupe::ops::string_lower_cpu {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return text;
}

} // namespace

extern constexpr kernel_def string_lower_cpu{
    .op = "StringLower",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, lower_case); }}},
};

} // namespace troupe::ops::string_lower_cpu
