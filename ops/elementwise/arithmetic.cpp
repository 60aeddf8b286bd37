// Sums, differences and products.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::arithmetic_op {
namespace {

edges sum_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(dz, y, x)};
}

// x + 0 = x
edge simplify_sum(simplify_context& at) {
  for (int i : {0, 1})
    if (at.is_all(1 - i, 0) && at.keeps_shape_of(i))
      return at.input(i);
  return {};
}

result<shapes> infer_add_n(const infer_context& at) {
  auto joint = at.input(0);
  for (int i = 1; i < at.inputs(); ++i) {
    auto merged = merge(joint, at.input(i));
    if (!merged)
      return at.invalid("all inputs must have one shape, got ", joint, " and ", at.input(i));
    joint = *std::move(merged);
  }
  return shapes{std::move(joint)};
}

edges add_n_gradient(gradient_context& at) {
  return edges(static_cast<size_t>(at.inputs()), at.output_gradient(0));
}

edges sub_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(-dz, y, x)};
}

// x - 0 = x
edge simplify_sub(simplify_context& at) {
  return at.is_all(1, 0) && at.keeps_shape_of(0) ? at.input(0) : edge{};
}

edges mul_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz * conjugate(y), x, y), unbroadcast(dz * conjugate(x), y, x)};
}

// x * 1 = x; x * 0 = 0 for integers (a float may be infinite or NaN); x * x = Square(x)
edge simplify_mul(simplify_context& at) {
  constexpr auto integers = signed_integers | unsigned_integers;
  for (int i : {0, 1}) {
    if (at.is_all(1 - i, 1) && at.keeps_shape_of(i))
      return at.input(i);
    if (integers.contains(at.output_type()) && at.is_all(1 - i, 0) && at.keeps_shape_of(1 - i))
      return at.input(1 - i);
  }
  if (is_same_edge(at.input(0), at.input(1)))
    return at.op("Square", {at.input(0)});
  return {};
}

} // namespace

extern constexpr op_def add{
    .name = "Add",
    .doc = "Adds x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers wrap "
           "around; strings are joined.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers | one_of(dtype::string)}},
    .effects = effect::adds | effect::forwardable | effect::commutative | effect::elementwise |
               effect::broadcasting | effect::autocast_infer,
    .infer = infer::broadcast_inputs,
    .gradient = sum_gradient,
    .simplify = simplify_sum,
    .example = R"(
z = Add(f32[[1, 2], [3, 4]], f32[10, 20])
fetch z = f32[[11, 22], [13, 24]]
)",
};

extern constexpr op_def add_v2{
    .name = "AddV2",
    .doc = "Adds x and y, element by element, as Add does, but not strings.\n\nBroadcasts by "
           "NumPy's rules. Whole numbers wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::adds | effect::forwardable | effect::commutative | effect::elementwise |
               effect::broadcasting | effect::autocast_infer,
    .infer = infer::broadcast_inputs,
    .gradient = sum_gradient,
    .simplify = simplify_sum,
    .example = R"(
z = AddV2(f32[[1, 2], [3, 4]], f32[10, 20])
fetch z = f32[[11, 22], [13, 24]]
)",
};

extern constexpr op_def add_n{
    .name = "AddN",
    .doc = "Adds up tensors of one shape, element by element.\n\nIt does not broadcast. Lists "
           "are added item by item.",
    .inputs = {{"inputs", "T", "N"}},
    .outputs = {{"sum", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", numbers | one_of(dtype::variant)}},
    .effects = effect::forwardable | effect::autocast_infer,
    .infer = infer_add_n,
    .gradient = add_n_gradient,
    .example = R"(
y = AddN(f32[1, 2], f32[10, 20], f32[100, 200])
fetch y = f32[111, 222]
)",
};

extern constexpr op_def sub{
    .name = "Sub",
    .doc = "Subtracts y from x, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = sub_gradient,
    .simplify = simplify_sub,
    .example = R"(
z = Sub(f32[[1, 2], [3, 4]], f32[[1], [2]])
fetch z = f32[[0, 1], [1, 2]]
)",
};

extern constexpr op_def mul{
    .name = "Mul",
    .doc = "Multiplies x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::commutative | effect::elementwise |
               effect::broadcasting | effect::autocast_infer,
    .infer = infer::broadcast_inputs,
    .gradient = mul_gradient,
    .simplify = simplify_mul,
    .example = R"(
z = Mul(f32[1, 2, 3], f32(2))
fetch z = f32[2, 4, 6]
)",
};

} // namespace troupe::ops::arithmetic_op
