// Range: a sequence of numbers.
#include "troupe/ops/shape/range.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::range_op {
namespace {

result<shapes> infer(const infer_context& at) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  auto start = at.integers(0), limit = at.integers(1), delta = at.integers(2);
  if (!start || !limit || !delta)
    return shapes{partial_shape::of_rank(1)};
  TROUPE_ASSIGN(auto count, count_steps(start->at(0), limit->at(0), delta->at(0)));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  return shapes{dims};
}

} // namespace

extern constexpr op_def range{
    .name = "Range",
    .doc = "Counts from start up to, but not including, limit, in steps of delta.\n\nA negative "
           "delta counts down; one that does not lead to limit fails.",
    .inputs = {on_host("start", "Tidx"), on_host("limit", "Tidx"), on_host("delta", "Tidx")},
    .outputs = {{"output", "Tidx"}},
    .attrs = {{"Tidx", real_numbers, dtype::i32}},
    .infer = infer,
    .no_gradient = "the number of elements jumps",
    .example = R"(
y = Range(i32(3), i32(18), i32(4))
z = Range(f32(1), f32(0), f32(-0.25))
fetch y = i32[3, 7, 11, 15]
fetch z = f32[1, 0.75, 0.5, 0.25]
)",
};

} // namespace troupe::ops::range_op
