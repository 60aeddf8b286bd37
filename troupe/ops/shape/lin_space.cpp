// LinSpace: evenly spaced numbers.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::lin_space_op {
namespace {

result<shapes> infer(const infer_context& at) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  auto count = at.integers(2);
  if (count && count->at(0) <= 0)
    return at.invalid("num must be positive, got ", count->at(0));
  TROUPE_ASSIGN(auto dims, partial_shape::make(std::vector{count ? count->at(0) : unknown_extent}));
  return shapes{dims};
}

// Each number is (1 - w) * start + w * stop.
edges gradient(gradient_context& at) {
  auto start = at.input(0), dy = at.output_gradient(0), one = scalar_like(start, 1);
  auto weights = build("LinSpace", {scalar_like(start, 0), one, at.input(2)});
  return {sum_over(dy * (one - weights), {0}), sum_over(dy * weights, {0}), {}};
}

} // namespace

extern constexpr op_def lin_space{
    .name = "LinSpace",
    .doc = "Gives num numbers at even distances from start to stop, both included.\n\nOne number "
           "alone is start.",
    .inputs = {on_host("start", "T"), on_host("stop", "T"), on_host("num", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating}, {"Tidx", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = LinSpace(f32(10), f32(12), i32(3))
z = LinSpace(f32(10), f32(12), i32(1))
fetch y = f32[10, 11, 12]
fetch z = f32[10]
)",
};

} // namespace troupe::ops::lin_space_op
