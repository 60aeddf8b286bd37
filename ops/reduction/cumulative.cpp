// Running sums and products.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::cumulative_op {
namespace {

result<shapes> infer_scan(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto& dims = at.input(0);
  if (auto axis = at.integers(1); axis && dims.has_rank())
    TROUPE_TRY(resolve_axis(axis->at(0), dims.rank()));
  return shapes{dims};
}

// Sums from each element to the end of the axis, in the opposite direction.
edge sums_against(gradient_context& at, edge x) {
  return build("Cumsum", {x, at.input(1)},
               {{"exclusive", at.attr<bool>("exclusive")}, {"reverse", !at.attr<bool>("reverse")}});
}

edges cumsum_gradient(gradient_context& at) {
  return {sums_against(at, at.output_gradient(0)), {}};
}

// The derivative of a product for one of its factors is the product divided by that factor.
edges cumprod_gradient(gradient_context& at) {
  auto products = conjugate(at.output(0)) * at.output_gradient(0);
  return {sums_against(at, products) / conjugate(at.input(0)), {}};
}

} // namespace

extern constexpr op_def cumsum{
    .name = "Cumsum",
    .doc = "Replaces each element by the sum of the elements up to it along an axis.\n\nWhere "
           "exclusive, the element itself is left out, and the first sum is 0. With reverse, sums "
           "start at the end of the axis. A negative axis counts from the end.",
    .inputs = {{"x", "T"}, on_host("axis", "Tidx")},
    .outputs = {{"out", "T"}},
    .attrs = {{"exclusive", false},
              {"reverse", false},
              {"T", numbers},
              {"Tidx", index_types, dtype::i32}},
    .effects = effect::forwardable,
    .infer = infer_scan,
    .gradient = cumsum_gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Cumsum(x, i32(-1))
z = Cumsum(x, i32(1)) exclusive=true reverse=true
fetch y = f32[[1, 3, 6], [4, 9, 15]]
fetch z = f32[[5, 3, 0], [11, 6, 0]]
)",
};

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
    .gradient = cumprod_gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Cumprod(x, i32(-1))
z = Cumprod(x, i32(1)) exclusive=true reverse=true
fetch y = f32[[1, 2, 6], [4, 20, 120]]
fetch z = f32[[6, 3, 1], [30, 6, 1]]
)",
};

} // namespace troupe::ops::cumulative_op
