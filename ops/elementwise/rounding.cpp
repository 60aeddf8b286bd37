// Rounding to whole numbers.
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::rounding_op {
namespace {

// The function is piecewise constant.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def ceil{
    .name = "Ceil",
    .doc = "Rounds each element up to a whole number.\n\nThe gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Ceil(f32[1.2, -1.8, 3])
fetch y = f32[2, -1, 3]
)",
};

extern constexpr op_def floor{
    .name = "Floor",
    .doc = "Rounds each element down to a whole number.\n\nThe gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Floor(f32[1.2, -1.8, 3])
fetch y = f32[1, -2, 3]
)",
};

extern constexpr op_def rint{
    .name = "Rint",
    .doc = "Rounds each element to the nearest whole number, halves to the even one.\n\nThe "
           "gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Rint(f32[0.5, 1.5, -2.6])
fetch y = f32[0, 2, -3]
)",
};

extern constexpr op_def round{
    .name = "Round",
    .doc = "Rounds each element to the nearest whole number, halves to the even one.\n\nWhole "
           "numbers stay as they are. The gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Round(f32[0.5, 1.5, -2.6])
fetch y = f32[0, 2, -3]
)",
};

} // namespace troupe::ops::rounding_op
