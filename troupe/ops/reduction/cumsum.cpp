// Cumsum: running sums along an axis.
#include "troupe/ops/reduction/shared/scan.hpp"

namespace troupe::ops::cumsum_op {
namespace {

edges gradient(gradient_context& at) { return {sums_against(at, at.output_gradient(0)), {}}; }

} // namespace

extern constexpr op_def cumsum{
    .name = "Cumsum",
    .doc = "Replaces each element by the sum of the elements up to it along an axis.\n\nWhere "
           "exclusive, the element itself is left out, and the first sum is 0. With reverse, sums "
           "start at the end of the axis. A negative axis counts from the end.",
    .inputs = {{"x", "T"}, on_host("axis", "Tidx")},
    .outputs = {{"out", "T"}},
    .attrs = {{"exclusive", false},
              {"reverse", false},
              {"T", numbers},
              {"Tidx", index_types, dtype::i32}},
    .effects = effect::forwardable,
    .infer = infer_scan,
    .gradient = gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = Cumsum(x, i32(-1))
z = Cumsum(x, i32(1)) exclusive=true reverse=true
fetch y = f32[[1, 3, 6], [4, 9, 15]]
fetch z = f32[[5, 3, 0], [11, 6, 0]]
)",
};

} // namespace troupe::ops::cumsum_op
