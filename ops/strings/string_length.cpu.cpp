#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/text.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <algorithm>

namespace troupe::ops::string_length_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto unit, text_unit_of(at.state<std::string>()));
  if (unit == text_unit::byte)
    return map_strings<int32_t>(
        at, [](const std::string& text) { return static_cast<int32_t>(text.size()); }, 3);
  return map_strings<int32_t>(at, [](const std::string& text) {
    return static_cast<int32_t>(std::ranges::count_if(text, begins_character));
  });
}

} // namespace

extern constexpr kernel_def string_length_cpu{
    .op = "StringLength",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "unit">,
};

} // namespace troupe::ops::string_length_cpu
