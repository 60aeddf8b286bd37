#include "troupe/ops/strings/shared/base64.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

namespace troupe::ops::base64_cpu {
namespace {

status run(kernel_context& at) {
  return map_strings<std::string>(
      at, [pad = at.state<bool>()](const std::string& bytes) { return to_base64(bytes, pad); });
}

} // namespace

extern constexpr kernel_def encode_base64_cpu{
    .op = "EncodeBase64",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "pad">,
};

extern constexpr kernel_def decode_base64_cpu{
    .op = "DecodeBase64",
    .run = {{dtype::none,
             [](kernel_context& at) { return map_strings<std::string>(at, from_base64); }}},
};

} // namespace troupe::ops::base64_cpu
