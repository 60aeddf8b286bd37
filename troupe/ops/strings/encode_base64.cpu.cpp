#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/base64.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

namespace troupe::ops::encode_base64_cpu {
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

} // namespace troupe::ops::encode_base64_cpu
