// Cast: the same values in another element type.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::cast_op {
namespace {

constexpr auto castable = numbers | one_of(dtype::boolean);

// Integers and truth values pass no gradient.
edges gradient(gradient_context& at) {
  auto from = at.attr<dtype>("SrcT"), to = at.attr<dtype>("DstT");
  constexpr auto smooth = floating | complex_types;
  if (!smooth.contains(from) || !smooth.contains(to))
    return {edge{}};
  return {cast_to(at.output_gradient(0), from)};
}

bool holds_all_of(dtype wide, dtype narrow) {
  constexpr auto halves = one_of(dtype::f16, dtype::bf16);
  return (halves.contains(narrow) && (wide == dtype::f32 || wide == dtype::f64)) ||
         (narrow == dtype::f32 && wide == dtype::f64);
}

// A cast to a type that loses nothing, and back.
edge simplify(simplify_context& at) {
  if (at.input(0).type() == at.output_type())
    return at.input(0);
  if (const auto* wider = at.same_op_behind(0)) {
    auto from = wider->inputs()[0];
    if (from.type() == at.output_type() && holds_all_of(at.input(0).type(), from.type()))
      return from;
  }
  return {};
}

} // namespace

extern constexpr op_def cast{
    .name = "Cast",
    .doc = "Converts each element to another type.\n\nFloats become whole numbers by cutting off "
           "their fraction; those beyond the type's range become its least or greatest number, and "
           "NaN becomes 0. Whole numbers that do not fit wrap around. Complex numbers lose their "
           "imaginary part. Everything but zero is true. Floats that become narrower ones are "
           "rounded; "
           "with Truncate, the bits that there is no room for are cut off.",
    .inputs = {{"x", "SrcT"}},
    .outputs = {{"y", "DstT"}},
    .attrs = {{"SrcT", castable}, {"DstT", castable}, {"Truncate", false}},
    .infer = infer::same_as_input,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = Cast(f32[1.7, -1.7, 1e10]) DstT=i32
fetch y = i32[1, -1, 2147483647]
z = Cast(f32[1.01171875, -1.01171875]) DstT=bf16 Truncate=true
fetch z = bf16[1.0078125, -1.0078125]
)",
};

} // namespace troupe::ops::cast_op
