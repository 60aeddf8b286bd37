// MatMul: the product of two matrices.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto a, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto b, at.of_rank(1, 2));
  int across_a = at.attr<bool>("transpose_a") ? 1 : 0;
  int across_b = at.attr<bool>("transpose_b") ? 1 : 0;
  auto inner_a = a[1 - across_a], inner_b = b[across_b];
  if (inner_a != inner_b && inner_a != unknown_extent && inner_b != unknown_extent)
    return at.invalid("the inner extents ", inner_a, " of a ", a, across_a ? " (transposed)" : "",
                      " and ", inner_b, " of b ", b, across_b ? " (transposed)" : "", " differ");
  return shapes{{a[across_a], b[1 - across_b]}};
}

edge product_of(edge a, bool transpose_a, edge b, bool transpose_b) {
  return build("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

// For y = a * b: da = dy * b', db = a' * dy; where an operand was transposed, so is its gradient.
edges gradient(gradient_context& at) {
  auto a = conjugate(at.input(0)), b = conjugate(at.input(1)), dy = at.output_gradient(0);
  auto across_a = at.attr<bool>("transpose_a"), across_b = at.attr<bool>("transpose_b");
  return {across_a ? product_of(b, across_b, dy, true) : product_of(dy, false, b, !across_b),
          across_b ? product_of(dy, true, a, across_a) : product_of(a, !across_a, dy, false)};
}

double flops(const node& of) {
  auto known = [](int64_t extent) { return static_cast<double>(extent < 0 ? 1 : extent); };
  const auto &a = of.inputs()[0].dims(), &product = of.output_shape(0);
  if (!a.has_rank() || !product.has_rank())
    return 1;
  auto inner = a[of.attr<bool>("transpose_a") ? 0 : 1];
  return 2 * known(product[0]) * known(product[1]) * known(inner);
}

} // namespace

extern constexpr op_def matmul{
    .name = "MatMul",
    .doc = "Multiplies two matrices, either of them transposed first if asked.",
    .inputs = {{"a", "T"}, {"b", "T"}},
    .outputs = {{"product", "T"}},
    .attrs = {{"transpose_a", false}, {"transpose_b", false}, {"T", numbers}},
    .infer = infer,
    .gradient = gradient,
    .flops = flops,
    .example = R"(
a = f32[[1, 2], [3, 4]]
y = MatMul(a, f32[[1, 0], [0, 2]])
z = MatMul(a, f32[[1, 1]]) transpose_b=true
fetch y = f32[[1, 4], [3, 8]]
fetch z = f32[[3], [7]]
)",
};

} // namespace troupe::ops
