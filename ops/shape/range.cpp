// Evenly spaced numbers.
#include "troupe/ops/shape/range.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::range_op {
namespace {

result<shapes> infer_range(const infer_context& at) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  auto start = at.integers(0), limit = at.integers(1), delta = at.integers(2);
  if (!start || !limit || !delta)
    return shapes{partial_shape::of_rank(1)};
  TROUPE_ASSIGN(auto count, count_steps(start->at(0), limit->at(0), delta->at(0)));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  return shapes{dims};
}

result<shapes> infer_lin_space(const infer_context& at) {
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

extern constexpr op_def range{
    .name = "Range",
    .doc = "Counts from start up to, but not including, limit, in steps of delta.\n\nA negative "
           "delta counts down; one that does not lead to limit fails.",
    .inputs = {on_host("start", "Tidx"), on_host("limit", "Tidx"), on_host("delta", "Tidx")},
    .outputs = {{"output", "Tidx"}},
    .attrs = {{"Tidx", real_numbers, dtype::i32}},
    .infer = infer_range,
    .no_gradient = "the number of elements jumps",
    .example = R"(
y = Range(i32(3), i32(18), i32(4))
z = Range(f32(1), f32(0), f32(-0.25))
fetch y = i32[3, 7, 11, 15]
fetch z = f32[1, 0.75, 0.5, 0.25]
)",
};

extern constexpr op_def lin_space{
    .name = "LinSpace",
    .doc = "Gives num numbers at even distances from start to stop, both included.\n\nOne number "
           "alone is start.",
    .inputs = {on_host("start", "T"), on_host("stop", "T"), on_host("num", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_lin_space,
    .gradient = gradient,
    .example = R"(
y = LinSpace(f32(10), f32(12), i32(3))
z = LinSpace(f32(10), f32(12), i32(1))
fetch y = f32[10, 11, 12]
fetch z = f32[10]
)",
};

} // namespace troupe::ops::range_op
