#include "troupe/ops/strings/shared/regex.cpu.hpp"

namespace troupe::ops::regex_full_match_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto text, pattern_at(at, 1));
  TROUPE_ASSIGN(auto pattern, compile_regex(text));
  return match_fully(at, *pattern);
}

} // namespace

extern constexpr kernel_def regex_full_match_cpu{
    .op = "RegexFullMatch",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::regex_full_match_cpu
