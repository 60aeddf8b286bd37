// RegexReplace: search and replace.
#include "troupe/ops/strings/shared/regex.hpp"

namespace troupe::ops::regex_replace_op {

extern constexpr op_def regex_replace{
    .name = "RegexReplace",
    .doc = "Replaces what matches a regular expression.\n\n"
           "The expression is one of RE2; in the rewrite, \\1 to \\9 stand for its groups and \\0 "
           "for the whole match. Without replace_global, only the first match is replaced.",
    .inputs = {{"input", "string"}, {"pattern", "string"}, {"rewrite", "string"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"replace_global", true}},
    .infer = infer_regex,
    .no_gradient = "text has none",
    .example = R"(
y = RegexReplace(string["a1b22", "c"], string("[0-9]+"), string("<\\0>"))
fetch y = string["a<1>b<22>", "c"]
)",
};

} // namespace troupe::ops::regex_replace_op
