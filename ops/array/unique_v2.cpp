// UniqueV2: the different slices of a tensor along an axis.
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
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

} // namespace

extern constexpr op_def unique_v2{
    .name = "UniqueV2",
    .doc = "Lists the different slices of a tensor along an axis, in the order in which they first "
           "appear.\n\nSlice i of x is slice idx[i] of y. The axis may be missing for a vector.",
    .inputs = {{"x", "T"}, {"axis", "Taxis"}},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type},
              {"Taxis", index_types, dtype::i64},
              {"out_idx", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueV2(i32[[1, 0, 1], [2, 0, 2]], i64[1])
fetch y = i32[[1, 0], [2, 0]]
fetch y:1 = i32[0, 1, 0]
)",
};

} // namespace troupe::ops
