#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <algorithm>

namespace troupe::ops::string_upper_cpu {
namespace {

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  });
  return text;
}

} // namespace

extern constexpr kernel_def string_upper_cpu{
    .op = "StringUpper",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, upper_case); }}},
};

} // namespace troupe::ops::string_upper_cpu
