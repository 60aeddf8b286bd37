// Regular expressions, given by inputs or attributes.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::regex_op {
namespace {

// Input 0 is searched; the other inputs are patterns, which must be scalars.
result<shapes> infer_regex(const infer_context& at) {
  for (int i = 1; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  return shapes{at.input(0)};
}

} // namespace

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

extern constexpr op_def regex_replace{
    .name = "RegexReplace",
    .doc = "Replaces what matches a regular expression.\n\n"
           "The expression is one of RE2; in the rewrite, `\\1` to `\\9` stand for its groups and "
           "`\\0` for the whole match. Without replace_global, only the first match is replaced.",
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

} // namespace troupe::ops::regex_op
