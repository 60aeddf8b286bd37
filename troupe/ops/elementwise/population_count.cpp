// PopulationCount: how many bits of each element are set.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::population_count_op {

extern constexpr op_def population_count{
    .name = "PopulationCount",
    .doc = "Counts the bits that are set in each element.\n\nNegative numbers count as their two's "
           "complement.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "u8"}},
    .attrs = {{"T", integers}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "bits have no gradient",
    .example = R"(
y = PopulationCount(i32[0, 7, -1])
fetch y = u8[0, 3, 32]
)",
};

} // namespace troupe::ops::population_count_op
