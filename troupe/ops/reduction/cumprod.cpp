// Cumprod: running products along an axis.
#include "troupe/ops/reduction/shared/scan.hpp"

namespace troupe::ops::cumprod_op {
namespace {

// The derivative of a product by one of its factors is the product divided by that factor.
edges gradient(gradient_context& at) {
  auto products = conjugate(at.output(0)) * at.output_gradient(0);
  return {sums_against(at, products) / conjugate(at.input(0)), {}};
}

} // namespace

extern constexpr op_def cumprod{
    .name = "Cumprod",
    .doc = "Replaces each element by the product of the elements up to it along an axis.\n\nWhere "
           "exclusive, the element itself is left out, and the first product is 1. With reverse, "
           "products start at the end of the axis. A negative axis counts from the end. The "
           "gradient is not defined, and NaN, at elements that are 0.",
    .inputs = {{"x", "T"}, on_host("axis", "Tidx")},
    .outputs = {{"out", "T"}},
    .attrs = {{"exclusive", false},
              {"reverse", false},
              {"T", numbers},
              {"Tidx", index_types, dtype::i32}},
    .effects = effect::forwardable,
    .infer = infer_scan,
    .gradient = gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Cumprod(x, i32(-1))
z = Cumprod(x, i32(1)) exclusive=true reverse=true
fetch y = f32[[1, 2, 6], [4, 20, 120]]
fetch z = f32[[6, 3, 1], [30, 6, 1]]
)",
};

} // namespace troupe::ops::cumprod_op
