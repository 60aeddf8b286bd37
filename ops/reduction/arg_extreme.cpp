// The indices of the greatest and of the least elements.
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::arg_extreme_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{partial_shape::unknown()};
  if (dims.rank() == 0)
    return at.invalid("input must have an axis, got a scalar");
  auto axis = at.integers(1);
  if (!axis)
    return shapes{partial_shape::of_rank(dims.rank() - 1)};
  TROUPE_ASSIGN(auto along, axes_of(*axis, dims.rank()));
  return shapes{without(dims, along, false)};
}

} // namespace

extern constexpr op_def arg_max{
    .name = "ArgMax",
    .doc = "Finds the position of the largest element along an axis.\n\nThe first one counts where "
           "several are equal. NaN counts as largest. An empty axis fails.",
    .inputs = {{"input", "T"}, on_host("dimension", "Tidx")},
    .outputs = {{"output", "output_type"}},
    .attrs = {{"T", real_numbers | one_of(dtype::boolean)},
              {"Tidx", index_types, dtype::i32},
              {"output_type", index_types, dtype::i64}},
    .infer = infer,
    .no_gradient = "positions are whole numbers and jump",
    .example = R"(
y = ArgMax(f32[[1, 9, 2], [5, 4, 3]], i32(1))
fetch y = i64[1, 0]
)",
};

extern constexpr op_def arg_min{
    .name = "ArgMin",
    .doc =
        "Finds the position of the smallest element along an axis.\n\nThe first one counts where "
        "several are equal. NaN counts as smallest. An empty axis fails.",
    .inputs = {{"input", "T"}, on_host("dimension", "Tidx")},
    .outputs = {{"output", "output_type"}},
    .attrs = {{"T", real_numbers | one_of(dtype::boolean)},
              {"Tidx", index_types, dtype::i32},
              {"output_type", index_types, dtype::i64}},
    .infer = infer,
    .no_gradient = "positions are whole numbers and jump",
    .example = R"(
y = ArgMin(f32[[1, 9, 2], [5, 4, 3]], i32(1))
fetch y = i64[0, 2]
)",
};

} // namespace troupe::ops::arg_extreme_op
