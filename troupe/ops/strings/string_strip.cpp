// StringStrip: strings without the space around them.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_strip_op {

extern constexpr op_def string_strip{
    .name = "StringStrip",
    .doc = "Removes spaces, tabs and the like from both ends of each string.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .infer = infer::same_as_input,
    .no_gradient = "text has none",
    .example = R"(
y = StringStrip(string[" a b ", "\n\t"])
fetch y = string["a b", ""]
)",
};

} // namespace troupe::ops::string_strip_op
