// StringLength: the lengths of strings.
#include "troupe/ops/kernel/text.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_length_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(text_unit_of(at.attr<std::string>("unit")));
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def string_length{
    .name = "StringLength",
    .doc = "Counts the bytes of each string, or its characters where `unit` is UTF8_CHAR.\n\nBytes "
           "that are no UTF-8 count as characters unless they look like the rest of one.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "i32"}},
    .attrs = {{"unit", "BYTE"}},
    .infer = infer,
    .no_gradient = "its output is a count",
    .example = R"(
y = StringLength(string["troupe", "", "\xc3\xa9"])
z = StringLength(string["troupe", "", "\xc3\xa9"]) unit="UTF8_CHAR"
fetch y = i32[6, 0, 2]
fetch z = i32[6, 0, 1]
)",
};

} // namespace troupe::ops::string_length_op
