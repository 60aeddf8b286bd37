// Unique: the different elements of a vector.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::unique_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 1));
  return shapes{{unknown_extent}, dims};
}

} // namespace

extern constexpr op_def unique{
    .name = "Unique",
    .doc = "Lists the different elements of a vector, in the order in which they first appear.\n\n"
           "x[i] is y[idx[i]].",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}, {"idx", "out_idx"}},
    .attrs = {{"T", any_type}, {"out_idx", index_types, dtype::i32}},
    .effects = data_dependent_shape,
    .infer = infer,
    .no_gradient = "which elements are equal is no smooth matter",
    .example = R"(
y = Unique(i32[4, 7, 4, 1])
fetch y = i32[4, 7, 1]
fetch y:1 = i32[0, 1, 0, 2]
)",
};

} // namespace troupe::ops::unique_op
