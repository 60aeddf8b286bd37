// Invert: the complement of the bits of each element.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::invert_op {

extern constexpr op_def invert{
    .name = "Invert",
    .doc = "Flips all bits of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "bits have no gradient",
    .example = R"(
y = Invert(i32[0, 5, -1])
fetch y = i32[-1, -6, 0]
)",
};

} // namespace troupe::ops::invert_op
