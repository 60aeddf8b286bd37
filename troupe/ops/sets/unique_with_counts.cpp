// UniqueWithCounts: the different elements of a vector, and how often each appears.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::unique_with_counts_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 1));
  return shapes{{unknown_extent}, dims, {unknown_extent}};
}

} // namespace

extern constexpr op_def unique_with_counts{
    .name = "UniqueWithCounts",
    .doc = "Lists the different elements of a vector, in the order in which they first appear, and "
           "how often they do.\n\nx[i] is y[idx[i]], which appears count[idx[i]] times.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}, {"count", "out_idx"}},
    .attrs = {{"T", any_type}, {"out_idx", index_types, dtype::i32}},
    .effects = data_dependent_shape,
    .infer = infer,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = UniqueWithCounts(i32[4, 7, 4, 1])
fetch y = i32[4, 7, 1]
fetch y:1 = i32[0, 1, 0, 2]
fetch y:2 = i32[2, 1, 1]
)",
};

} // namespace troupe::ops::unique_with_counts_op
