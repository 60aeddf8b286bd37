// Substr: substrings.
#include "troupe/ops/kernel/text.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::substr_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(text_unit_of(at.attr<std::string>("unit")));
  auto pieces = merge(at.input(1), at.input(2));
  if (!pieces)
    return at.invalid("pos and len must have one shape, got ", at.input(1), " and ", at.input(2));
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), *pieces));
  return shapes{std::move(joint)};
}

} // namespace

extern constexpr op_def substr{
    .name = "Substr",
    .doc =
        "Takes `len` bytes from `pos` on out of each string, or characters where `unit` is "
        "UTF8_CHAR.\n\n"
        "A negative pos counts from the end; one outside of the string fails. Where the string "
        "ends earlier, so does the piece. The strings and the places are broadcast to one shape.",
    .inputs = {{"input", "string"}, {"pos", "T"}, {"len", "T"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"T", index_types}, {"unit", "BYTE"}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
y = Substr(string["troupe", "actors"], i32(1), i32(3))
z = Substr(string("troupe"), i32[0, -2], i32[1, 9])
u = Substr(string("\xc3\xa9t\xc3\xa9"), i32(1), i32(2)) unit="UTF8_CHAR"
fetch y = string["rou", "cto"]
fetch z = string["t", "pe"]
fetch u = string("t\xc3\xa9")
)",
};

} // namespace troupe::ops::substr_op
