// StaticRegexReplace: RegexReplace with a pattern that is an attribute.
#include "troupe/ops/strings/shared/regex.hpp"

namespace troupe::ops::static_regex_replace_op {

extern constexpr op_def static_regex_replace{
    .name = "StaticRegexReplace",
    .doc = "Replaces what matches a regular expression that is known while the graph is built.\n\n"
           "Otherwise as RegexReplace.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"pattern", attr_kind::text}, {"rewrite", attr_kind::text}, {"replace_global", true}},
    .infer = infer_regex,
    .no_gradient = "text has none",
    .example = R"(
y = StaticRegexReplace(string["a-b-c"]) pattern="-(.)c?" rewrite="\\1+" replace_global=false
fetch y = string["ab+-c"]
)",
};

} // namespace troupe::ops::static_regex_replace_op
