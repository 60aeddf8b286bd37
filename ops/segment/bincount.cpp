// Counts of numbers, over all numbers or per row.
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

result<shapes> infer_dense_bincount(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto &numbers = at.input(0), &weights = at.input(2);
  if (!numbers.compatible(weights) && weights.elements() != 0)
    return at.invalid("weights must be empty or have the shape of input, got ", weights, " and ",
                      numbers);
  auto known_size = at.integers(1);
  if (known_size && known_size->at(0) < 0)
    return at.invalid("size must not be negative, got ", known_size->at(0));
  auto size = known_size ? known_size->at(0) : unknown_extent;
  if (!numbers.has_rank())
    return shapes{partial_shape::unknown()};
  if (numbers.rank() != 1 && numbers.rank() != 2)
    return at.invalid("input must be a vector or a matrix, got shape ", numbers);
  if (numbers.rank() == 1)
    return shapes{partial_shape{size}};
  return shapes{partial_shape{numbers[0], size}};
}

} // namespace

extern constexpr op_def bincount{
    .name = "Bincount",
    .doc = "Counts how often each number from 0 to size - 1 occurs in arr, or adds up the weights "
           "that belong to it.\n\nNumbers of at least size are ignored, and negative numbers are "
           "errors. If weights is empty, each number counts 1.",
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

extern constexpr op_def dense_bincount{
    .name = "DenseBincount",
    .doc = "Counts how often each number from 0 to size - 1 occurs in a vector, or in each row of "
           "a matrix, or adds up the weights that belong to it.\n\nNumbers of at least size are "
           "ignored, and negative numbers are errors. If weights is empty, each number counts 1. "
           "With binary_output, the count of a number that occurs is 1, and weights are ignored.",
    .inputs = {{"input", "Tidx"}, on_host("size", "Tidx"), {"weights", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"Tidx", one_of(dtype::i32, dtype::i64)},
              {"T", one_of(dtype::i32, dtype::i64, dtype::f32, dtype::f64)},
              {"binary_output", false}},
    .infer = infer_dense_bincount,
    .no_gradient = "it counts; UnsortedSegmentSum adds up weights, too, and has one",
    .example = R"(
y = DenseBincount(i32[[1, 3, 1], [0, 9, 0]], i32(4), i32[])
z = DenseBincount(i64[1, 3, 1], i64(4), f32[0.5, 1, 2])
has = DenseBincount(i32[1, 3, 1], i32(4), i32[]) binary_output=true
fetch y = i32[[0, 2, 0, 1], [2, 0, 0, 0]]
fetch z = f32[0, 2.5, 0, 1]
fetch has = i32[0, 1, 0, 1]
)",
};

} // namespace troupe::ops::bincount_op
