// StaticRegexFullMatch: RegexFullMatch with a pattern that is an attribute.
#include "troupe/ops/strings/shared/regex.hpp"

namespace troupe::ops::static_regex_full_match_op {

extern constexpr op_def static_regex_full_match{
    .name = "StaticRegexFullMatch",
    .doc = "Says which strings match a regular expression that is known while the graph is built.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "bool"}},
    .attrs = {{"pattern", attr_kind::text}},
    .infer = infer_regex,
    .no_gradient = "its output is a truth value",
    .example = R"(
y = StaticRegexFullMatch(string["ab", "abc"]) pattern="a.c"
fetch y = bool[false, true]
)",
};

} // namespace troupe::ops::static_regex_full_match_op
