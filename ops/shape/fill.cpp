// Tensors of equal elements, and uninitialized tensors.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fill_op {
namespace {

result<shapes> infer_fill(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  return shapes{dims};
}

edges fill_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto scalar = [&](int32_t value) { return constant_like(dy, tensor::scalar(value)); };
  auto axes = build("Range", {scalar(0), build("Rank", {dy}), scalar(1)});
  return {{}, build("Sum", {dy, axes})};
}

result<shapes> infer_empty(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  return shapes{dims};
}

// The output's values do not depend on the values of x.
edges zeros_like_gradient(gradient_context&) { return {edge{}}; }

// The output's values do not depend on the values of x.
edges ones_like_gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def fill{
    .name = "Fill",
    .doc = "Makes a tensor of the listed extents, each element of which is value.",
    .inputs = {on_host("dims", "index_type"), {"value", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"index_type", index_types, dtype::i32}},
    .infer = infer_fill,
    .gradient = fill_gradient,
    .example = R"(
y = Fill(i32[2, 3], f32(7))
fetch y = f32[[7, 7, 7], [7, 7, 7]]
)",
};

extern constexpr op_def empty{
    .name = "Empty",
    .doc = "Makes a tensor of the listed extents.\n\nIts elements are zero, whether init asks for "
           "that or not, so that a mistake shows itself in every run alike.",
    .inputs = {on_host("shape", "i32")},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"init", false}},
    .infer = infer_empty,
    .no_gradient = "its elements depend on nothing",
    .example = R"(
y = Empty(i32[2, 1]) dtype=f32 init=true
fetch y = f32[[0], [0]]
)",
};

extern constexpr op_def zeros_like{
    .name = "ZerosLike",
    .doc = "Makes a tensor of zeros with the type and shape of the input.\n\nThe zero of strings "
           "is the empty one, that of a list is a list of zeros.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", any_value}},
    .effects = effect::reads_shapes_only | effect::forwardable,
    .infer = infer::same_as_input,
    .gradient = zeros_like_gradient,
    .example = R"(
y = ZerosLike(f32[[1, 2], [3, 4]])
fetch y = f32[[0, 0], [0, 0]]
)",
};

extern constexpr op_def ones_like{
    .name = "OnesLike",
    .doc = "Makes a tensor of ones with the type and shape of the input.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", numbers | one_of(dtype::boolean)}},
    .effects = effect::reads_shapes_only | effect::forwardable,
    .infer = infer::same_as_input,
    .gradient = ones_like_gradient,
    .example = R"(
y = OnesLike(f32[[1, 2], [3, 4]])
fetch y = f32[[1, 1], [1, 1]]
)",
};

} // namespace troupe::ops::fill_op
