// Fill: one value everywhere.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::fill_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto scalar = [&](int32_t value) { return constant_like(dy, tensor::scalar(value)); };
  auto axes = build("Range", {scalar(0), build("Rank", {dy}), scalar(1)});
  return {{}, build("Sum", {dy, axes})};
}

} // namespace

extern constexpr op_def fill{
    .name = "Fill",
    .doc = "Makes a tensor of the listed extents, each element of which is value.",
    .inputs = {on_host("dims", "index_type"), {"value", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"index_type", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Fill(i32[2, 3], f32(7))
fetch y = f32[[7, 7, 7], [7, 7, 7]]
)",
};

} // namespace troupe::ops::fill_op
