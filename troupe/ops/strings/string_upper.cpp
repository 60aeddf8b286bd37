// StringUpper: letters in upper case.
#include "troupe/ops/strings/shared/letter_case.hpp"

namespace troupe::ops::string_upper_op {

extern constexpr op_def string_upper{
    .name = "StringUpper",
    .doc =
        "Turns the letters of ASCII into upper case.\n\nOther bytes stay as they are; TensorFlow's "
        "encoding \"utf-8\" is refused.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"encoding", ""}},
    .infer = infer_letter_case,
    .no_gradient = "text has none",
    .example = R"(
y = StringUpper(string["Ab-1", ""])
fetch y = string["AB-1", ""]
)",
};

} // namespace troupe::ops::string_upper_op
