// Bincount: how often each number occurs.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::bincount_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto &arr = at.input(0), &weights = at.input(2);
  if (!arr.compatible(weights) && weights.elements() != 0)
    return at.invalid("weights must be empty or have the shape of arr, got ", weights, " and ",
                      arr);
  auto size = at.integers(1);
  if (size && size->at(0) < 0)
    return at.invalid("size must not be negative, got ", size->at(0));
  return shapes{partial_shape{size ? size->at(0) : unknown_extent}};
}

} // namespace

extern constexpr op_def bincount{
    .name = "Bincount",
    .doc = "Counts how often each number from 0 to size - 1 occurs in arr, or adds up the weights "
           "that belong to it.\n\nNumbers from size on are left out, negative ones fail. Without "
           "weights, which are then empty, each number counts 1.",
    .inputs = {{"arr", "i32"}, on_host("size", "i32"), {"weights", "T"}},
    .outputs = {{"bins", "T"}},
    .attrs = {{"T", one_of(dtype::i32, dtype::i64, dtype::f32, dtype::f64)}},
    .infer = infer,
    .no_gradient = "it counts; UnsortedSegmentSum adds up weights, too, and has one",
    .example = R"(
y = Bincount(i32[1, 3, 1, 7], i32(4), i32[])
z = Bincount(i32[1, 3, 1], i32(4), f32[0.5, 1, 2])
fetch y = i32[0, 2, 0, 1]
fetch z = f32[0, 2.5, 0, 1]
)",
};

} // namespace troupe::ops::bincount_op
