// Rank: the number of axes.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::rank_op {

extern constexpr op_def rank{
    .name = "Rank",
    .doc = "Gives the number of axes of its input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "i32"}},
    .attrs = {{"T", any_type}},
    .effects = effect::of_shape,
    .infer = infer::scalar,
    .no_gradient = "it is a whole number",
    .example = R"(
y = Rank(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32(2)
)",
};

} // namespace troupe::ops::rank_op
