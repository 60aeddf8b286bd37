#include "troupe/ops/kernel/text.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

namespace troupe::ops::string_strip_cpu {

extern constexpr kernel_def string_strip_cpu{
    .op = "StringStrip",
    .run = {{dtype::none,
             [](kernel_context& at) {
               return map_strings<std::string>(
                   at, [](const std::string& text) { return std::string{stripped(text)}; });
             }}},
};

} // namespace troupe::ops::string_strip_cpu
