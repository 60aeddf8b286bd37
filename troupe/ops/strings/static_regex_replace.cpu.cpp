#include "troupe/ops/strings/shared/regex.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::static_regex_replace_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto with, make_replacement(setup.of.attr<std::string>("pattern"),
                                            setup.of.attr<std::string>("rewrite"),
                                            setup.of.attr<bool>("replace_global")));
  return std::shared_ptr<void>{std::make_shared<replacement>(std::move(with))};
}

} // namespace

extern constexpr kernel_def static_regex_replace_cpu{
    .op = "StaticRegexReplace",
    .run = {{dtype::none,
             [](kernel_context& at) { return replace_matches(at, at.state<replacement>()); }}},
    .prepare = prepare,
};

} // namespace troupe::ops::static_regex_replace_cpu
