// EditDistance: the number of edits that turn one sequence into another.
#include "troupe/ops/define/dims.hpp"

#include <algorithm>

namespace troupe::ops::edit_distance_op {
namespace {

// Indices [n, rank], values [n], shape [rank]: a sparse tensor whose last axis contains sequences.
result<partial_shape> infer_sparse(const infer_context& at, int first) {
  TROUPE_ASSIGN(auto indices, at.of_rank(first, 2));
  TROUPE_ASSIGN(auto values, at.of_rank(first + 1, 1));
  TROUPE_ASSIGN(auto extents, at.of_rank(first + 2, 1));
  TROUPE_TRY(merge(indices, {values[0], extents[0]}));
  TROUPE_ASSIGN(auto joint, merge(extents, {indices[1]}));
  if (joint[0] == 0)
    return at.invalid("sequences need an axis, the shape has none");
  TROUPE_ASSIGN(auto listed, listed_extents(at, first + 2));
  return listed;
}

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto hypothesis, infer_sparse(at, 0));
  TROUPE_ASSIGN(auto truth, infer_sparse(at, 3));
  if (!hypothesis.has_rank() || !truth.has_rank())
    return shapes{partial_shape::unknown()};
  if (hypothesis.rank() != truth.rank())
    return at.invalid("hypothesis and truth must have as many axes, got ", hypothesis, " and ",
                      truth);
  auto dims = partial_shape::of_rank(hypothesis.rank() - 1);
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (hypothesis[axis] != unknown_extent && truth[axis] != unknown_extent)
      dims.set(axis, std::max(hypothesis[axis], truth[axis]));
  return shapes{dims};
}

} // namespace

extern constexpr op_def edit_distance{
    .name = "EditDistance",
    .doc =
        "Counts the elements to insert, to delete and to replace that make a sequence another."
        "\n\nBoth inputs are sparse tensors, given by the coordinates of their elements, their "
        "values and their shape; the sequences lie along the last axis, in the order in which they "
        "are listed. With normalize, the count is divided by the length of the truth; where that "
        "is empty, it is infinite, or 0 if the hypothesis is empty as well.",
    .inputs = {{"hypothesis_indices", "i64"},
               {"hypothesis_values", "T"},
               {"hypothesis_shape", "i64"},
               {"truth_indices", "i64"},
               {"truth_values", "T"},
               {"truth_shape", "i64"}},
    .outputs = {{"output", "f32"}},
    .attrs = {{"normalize", true}, {"T", any_type}},
    .infer = infer,
    .no_gradient = "it counts",
    .example = R"(
# ["abc", "d"] and ["ac", "de"]
d = EditDistance(i64[[0, 0], [0, 1], [0, 2], [1, 0]], string["a", "b", "c", "d"], i64[2, 3],
                 i64[[0, 0], [0, 1], [1, 0], [1, 1]], string["a", "c", "d", "e"], i64[2, 2])
fetch d = f32[0.5, 0.5]
)",
};

} // namespace troupe::ops::edit_distance_op
