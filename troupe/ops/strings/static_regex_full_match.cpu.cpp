#include "troupe/ops/strings/shared/regex.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::static_regex_full_match_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto pattern, compile_regex(setup.of.attr<std::string>("pattern")));
  return std::shared_ptr<void>{std::move(pattern)};
}

} // namespace

extern constexpr kernel_def static_regex_full_match_cpu{
    .op = "StaticRegexFullMatch",
    .run = {{dtype::none, [](kernel_context& at) { return match_fully(at, at.state<RE2>()); }}},
    .prepare = prepare,
};

} // namespace troupe::ops::static_regex_full_match_cpu
