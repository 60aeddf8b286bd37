// RegexFullMatch: which strings have a form.
#include "troupe/ops/strings/shared/regex.hpp"

namespace troupe::ops::regex_full_match_op {

extern constexpr op_def regex_full_match{
    .name = "RegexFullMatch",
    .doc = "Says which strings match a regular expression of RE2 from end to end.",
    .inputs = {{"input", "string"}, {"pattern", "string"}},
    .outputs = {{"output", "bool"}},
    .infer = infer_regex,
    .no_gradient = "its output is a truth value",
    .example = R"(
y = RegexFullMatch(string["a1", "b2c", ""], string("[a-z][0-9]"))
fetch y = bool[true, false, false]
)",
};

} // namespace troupe::ops::regex_full_match_op
