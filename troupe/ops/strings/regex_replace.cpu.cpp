#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/regex.cpu.hpp"

namespace troupe::ops::regex_replace_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto pattern, pattern_at(at, 1));
  TROUPE_ASSIGN(auto rewrite, pattern_at(at, 2));
  TROUPE_ASSIGN(auto with, make_replacement(pattern, std::move(rewrite), at.state<bool>()));
  return replace_matches(at, with);
}

} // namespace

extern constexpr kernel_def regex_replace_cpu{
    .op = "RegexReplace",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "replace_global">,
};

} // namespace troupe::ops::regex_replace_cpu
