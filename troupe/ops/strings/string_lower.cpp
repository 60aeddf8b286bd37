// StringLower: letters in lower case.
#include "troupe/ops/strings/shared/letter_case.hpp"

namespace troupe::ops::string_lower_op {

extern constexpr op_def string_lower{
    .name = "StringLower",
    .doc =
        "Turns the letters of ASCII into lower case.\n\nOther bytes stay as they are; TensorFlow's "
        "encoding \"utf-8\" is refused.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"encoding", ""}},
    .infer = infer_letter_case,
    .no_gradient = "text has none",
    .example = R"(
y = StringLower(string["Ab-1", ""])
fetch y = string["ab-1", ""]
)",
};

} // namespace troupe::ops::string_lower_op
