// Add: the sum of each two elements.
#include "troupe/ops/elementwise/add.hpp"
#include "troupe/runtime/graph/epilogue.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::add_op {

extern constexpr op_def add{
    .name = "Add",
    .doc = "Adds x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers wrap "
           "around; strings are joined.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers | one_of(dtype::string)}},
    .effects = adds | effect::forwardable | effect::commutative | effect::elementwise |
               effect::broadcasting | autocast_infer,
    .infer = infer::broadcast_inputs,
    .gradient = sum_gradient,
    .simplify = simplify_sum,
    .example = R"(
z = Add(f32[[1, 2], [3, 4]], f32[10, 20])
fetch z = f32[[11, 22], [13, 24]]
)",
};

} // namespace troupe::ops::add_op
