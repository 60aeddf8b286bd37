// AsString: numbers as text.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::as_string_op {
namespace {

constexpr int64_t widest = 4096; // the maximum field width and number of digits

result<shapes> infer(const infer_context& at) {
  auto type = at.attr<dtype>("T");
  auto precision = at.attr<int64_t>("precision"), width = at.attr<int64_t>("width");
  auto scientific = at.attr<bool>("scientific"), shortest = at.attr<bool>("shortest");
  const auto& fill = at.attr<std::string>("fill");
  if (scientific && shortest)
    return at.invalid("scientific and shortest exclude each other");
  if ((scientific || shortest || precision >= 0) && !(floating | complex_types).contains(type))
    return at.invalid("scientific, shortest and precision are for real numbers, not ", type);
  if (precision > widest || width > widest)
    return at.invalid("precision and width must be at most ", widest, ", got ", precision, " and ",
                      width);
  if (fill.size() > 1 || std::string_view{" +-0#"}.find(fill) == std::string_view::npos)
    return at.invalid("fill must be empty or one of ' ', '+', '-', '0' and '#', got '", fill, "'");
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def as_string{
    .name = "AsString",
    .doc =
        "Writes each number as text.\n\n"
        "Real numbers have `precision` digits after the point (6 if it is negative), with "
        "`scientific` an exponent, with `shortest` whichever is shorter; complex ones are written "
        "(re,im). A `width` that is not negative fills the number up, with spaces at its left or "
        "as the flag of printf that `fill` is has it. Text stays as it is.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"T", any_type},
              {"precision", -1},
              {"scientific", false},
              {"shortest", false},
              {"width", -1},
              {"fill", ""}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
y = AsString(f32[1.5, -2])
z = AsString(i32[7, -7]) width=4 fill="0"
fetch y = string["1.500000", "-2.000000"]
fetch z = string["0007", "-007"]
)",
};

} // namespace troupe::ops::as_string_op
