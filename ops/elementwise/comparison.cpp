// Comparisons of elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::comparison_op {
namespace {

// By broadcasting. Where the shapes need not match, only a run shows whether the output is a
// scalar.
result<shapes> infer_equality(const infer_context& at) {
  if (at.attr<bool>("incompatible_shape_error"))
    return infer::broadcast_inputs(at);
  const auto &x = at.input(0), &y = at.input(1);
  if (x.fully_known() && y.fully_known())
    if (auto joint = broadcast(x, y))
      return shapes{*std::move(joint)};
  return shapes{partial_shape::unknown()};
}

} // namespace

extern constexpr op_def equal{
    .name = "Equal",
    .doc = "Says where x is equal to y.\n\n"
           "Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor "
           "less. Where shapes do not fit, that is an error, or one answer for the whole if "
           "incompatible_shape_error is false.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", any_type}, {"incompatible_shape_error", true}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer_equality,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = Equal(f32[1, 2, 3], f32(2))
fetch z = bool[false, true, false]
)",
};

extern constexpr op_def not_equal{
    .name = "NotEqual",
    .doc = "Says where x differs from y.\n\n"
           "Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor "
           "less. Where shapes do not fit, that is an error, or one answer for the whole if "
           "incompatible_shape_error is false.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", any_type}, {"incompatible_shape_error", true}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer_equality,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = NotEqual(f32[1, 2, 3], f32(2))
fetch z = bool[true, false, true]
)",
};

extern constexpr op_def less{
    .name = "Less",
    .doc = "Says where x is less than y.\n\nBroadcasts by NumPy's rules. NaN differs from "
           "everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = Less(f32[1, 2, 3], f32(2))
fetch z = bool[true, false, false]
)",
};

extern constexpr op_def less_equal{
    .name = "LessEqual",
    .doc = "Says where x is less than y or equal to it.\n\nBroadcasts by NumPy's rules. NaN "
           "differs from everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = LessEqual(f32[1, 2, 3], f32(2))
fetch z = bool[true, true, false]
)",
};

extern constexpr op_def greater{
    .name = "Greater",
    .doc = "Says where x is greater than y.\n\nBroadcasts by NumPy's rules. NaN differs from "
           "everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = Greater(f32[1, 2, 3], f32(2))
fetch z = bool[false, false, true]
)",
};

extern constexpr op_def greater_equal{
    .name = "GreaterEqual",
    .doc = "Says where x is greater than y or equal to it.\n\nBroadcasts by NumPy's rules. NaN "
           "differs from everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = GreaterEqual(f32[1, 2, 3], f32(2))
fetch z = bool[false, true, true]
)",
};

extern constexpr op_def approximate_equal{
    .name = "ApproximateEqual",
    .doc = "Says where the difference of x and y is within the tolerance.\n\nBoth must have the "
           "same shape. NaN is near to nothing.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", numbers}, {"tolerance", 1e-5}},
    .effects = effect::commutative,
    .infer = infer_paired,
    .no_gradient = "truth values have no gradient",
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
y = Placeholder dtype=f32 shape=[-1]
z = ApproximateEqual(x, y) tolerance=0.1
feed x = f32[1, 2, 3]
feed y = f32[1, 2.05, 3.5]
fetch z = bool[true, true, false]
)",
};

} // namespace troupe::ops::comparison_op
