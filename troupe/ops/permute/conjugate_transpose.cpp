// ConjugateTranspose: the complex conjugate with its axes in another order.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/permute/shared/transpose.hpp"

namespace troupe::ops::conjugate_transpose_op {
namespace {

edges gradient(gradient_context& at) {
  auto back = build("InvertPermutation", {at.input(1)});
  return {build("ConjugateTranspose", {at.output_gradient(0), back}), {}};
}

} // namespace

extern constexpr op_def conjugate_transpose{
    .name = "ConjugateTranspose",
    .doc = "Makes axis perm[i] of the input axis i of the output, and negates imaginary parts.",
    .inputs = {{"x", "T"}, on_host("perm", "Tperm")},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", any_type}, {"Tperm", index_types, dtype::i32}},
    .infer = infer_transposition,
    .gradient = gradient,
    .example = R"(
y = ConjugateTranspose(c64[[[1, 2], [3, 0]]], i32[1, 0])
z = ConjugateTranspose(f32[[1, 2]], i32[1, 0])
fetch y = c64[[[1, -2]], [[3, 0]]]
fetch z = f32[[1], [2]]
)",
};

} // namespace troupe::ops::conjugate_transpose_op
