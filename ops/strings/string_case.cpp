// Lower case, upper case, and removal of spaces at the ends.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_case_op {
namespace {

result<shapes> infer_letter_case(const infer_context& at) {
  if (const auto& encoding = at.attr<std::string>("encoding"); !encoding.empty())
    return at.invalid("encoding must be empty, which means ASCII, got '", encoding, "'");
  return shapes{at.input(0)};
}

} // namespace

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

} // namespace troupe::ops::string_case_op
