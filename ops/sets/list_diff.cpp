// ListDiff: the elements of one list that another lacks.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::list_diff_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{{unknown_extent}, {unknown_extent}};
}

} // namespace

extern constexpr op_def list_diff{
    .name = "ListDiff",
    .doc = "Lists the elements of x that y has not, in their order, and their places.\n\nElements "
           "that appear several times in x do so in the output.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"out", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type}, {"out_idx", index_types, dtype::i32}},
    .effects = effect::data_dependent_shape,
    .infer = infer,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
d = ListDiff(i32[1, 2, 3, 4, 3], i32[1, 4])
fetch d = i32[2, 3, 3]
fetch d:1 = i32[1, 2, 4]
)",
};

} // namespace troupe::ops::list_diff_op
