// StringFormat: inserts tensors into text.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_format_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto &text = at.attr<std::string>("template"),
             &placeholder = at.attr<std::string>("placeholder");
  int places = 0;
  for (size_t from = 0; !placeholder.empty(); ++places) {
    from = text.find(placeholder, from);
    if (from == text.npos)
      break;
    from += placeholder.size();
  }
  if (places != at.inputs())
    return at.invalid("template has ", places, " placeholders for ", at.inputs(), " inputs");
  return shapes{shape{}};
}

} // namespace

extern constexpr op_def string_format{
    .name = "StringFormat",
    .doc = "Puts tensors into a text, in place of its placeholders.\n\n"
           "Of each axis, the first and the last `summarize` elements are written, or all for a "
           "negative number.",
    .inputs = {{"inputs", "T"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"T", attr_kind::types}, {"template", "%s"}, {"placeholder", "%s"}, {"summarize", 3}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
y = StringFormat(i32[1, 2, 3, 4, 5],
    string("a")) template="x = {}, y = {}" placeholder="{}" summarize=2
fetch y = string("x = [1 2 ... 4 5], y = \"a\"")
)",
};

} // namespace troupe::ops::string_format_op
