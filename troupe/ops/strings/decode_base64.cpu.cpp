#include "troupe/ops/strings/shared/base64.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

namespace troupe::ops::decode_base64_cpu {

extern constexpr kernel_def decode_base64_cpu{
    .op = "DecodeBase64",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, from_base64); }}},
};

} // namespace troupe::ops::decode_base64_cpu
