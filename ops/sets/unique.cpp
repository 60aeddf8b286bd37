// Distinct elements, or slices along an axis (V2), with their positions and counts.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::unique_op {
namespace {

// The shapes of y and idx.
result<shapes> infer_unique_slices(const infer_context& at) {
  TROUPE_ASSIGN(auto axes, at.of_rank(1, 1));
  auto dims = at.input(0);
  if (axes[0] > 1)
    return at.invalid("axis must be empty or one number, got ", axes[0]);
  auto axis = at.integers(1);
  if (!dims.has_rank() || (!axis && dims.rank() != 1))
    return shapes{dims.has_rank() ? partial_shape::of_rank(dims.rank()) : partial_shape::unknown(),
                  {unknown_extent}};
  if (!axis || axis->empty())
    TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto along, resolve_axis(axis && !axis->empty() ? axis->front() : 0, dims.rank()));
  partial_shape places{dims[along]};
  dims.set(along, unknown_extent);
  return shapes{dims, places};
}

result<shapes> infer_unique(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 1));
  return shapes{{unknown_extent}, dims};
}

result<shapes> infer_unique_with_counts(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 1));
  return shapes{{unknown_extent}, dims, {unknown_extent}};
}

result<shapes> infer_unique_with_counts_v2(const infer_context& at) {
  TROUPE_ASSIGN(auto out, infer_unique_slices(at));
  out.push_back({unknown_extent});
  return out;
}

} // namespace

extern constexpr op_def unique{
    .name = "Unique",
    .doc = "Lists the different elements of a vector, in the order in which they first appear.\n\n"
           "x[i] is y[idx[i]].",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type}, {"out_idx", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_unique,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = Unique(i32[4, 7, 4, 1])
fetch y = i32[4, 7, 1]
fetch y:1 = i32[0, 1, 0, 2]
)",
};

extern constexpr op_def unique_v2{
    .name = "UniqueV2",
    .doc = "Lists the different slices of a tensor along an axis, in the order in which they first "
           "appear.\n\nSlice i of x is slice idx[i] of y. The axis may be missing for a vector.",
    .inputs = {{"x", "T"}, on_host("axis", "Taxis")},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type},
              {"Taxis", index_types, dtype::i64},
              {"out_idx", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_unique_slices,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueV2(i32[[1, 0, 1], [2, 0, 2]], i64[1])
fetch y = i32[[1, 0], [2, 0]]
fetch y:1 = i32[0, 1, 0]
)",
};

extern constexpr op_def unique_with_counts{
    .name = "UniqueWithCounts",
    .doc = "Lists the different elements of a vector, in the order in which they first appear, and "
           "how often they do.\n\nx[i] is y[idx[i]], which appears count[idx[i]] times.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}, {"count", "out_idx"}},
    .attrs = {{"T", any_type}, {"out_idx", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_unique_with_counts,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueWithCounts(i32[4, 7, 4, 1])
fetch y = i32[4, 7, 1]
fetch y:1 = i32[0, 1, 0, 2]
fetch y:2 = i32[2, 1, 1]
)",
};

extern constexpr op_def unique_with_counts_v2{
    .name = "UniqueWithCountsV2",
    .doc = "Lists the different slices of a tensor along an axis, in the order in which they first "
           "appear, and how often they do.\n\nSlice i of x is slice idx[i] of y, which appears "
           "count[idx[i]] times. The axis may be missing for a vector.",
    .inputs = {{"x", "T"}, on_host("axis", "Taxis")},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}, {"count", "out_idx"}},
    .attrs = {{"T", any_type},
              {"Taxis", index_types, dtype::i64},
              {"out_idx", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer_unique_with_counts_v2,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueWithCountsV2(i32[[1, 0, 1], [2, 0, 2]], i64[1])
fetch y = i32[[1, 0], [2, 0]]
fetch y:1 = i32[0, 1, 0]
fetch y:2 = i32[2, 1]
)",
};

} // namespace troupe::ops::unique_op
