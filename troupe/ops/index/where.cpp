// Where: where a tensor is not zero.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::where_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  return shapes{{unknown_extent, dims.has_rank() ? dims.rank() : unknown_extent}};
}

} // namespace

extern constexpr op_def where{
    .name = "Where",
    .doc = "Lists the coordinates of all elements that are true, or not zero, in row-major order."
           "\n\nThe output has a row for each.",
    .inputs = {{"input", "T"}},
    .outputs = {{"index", "i64"}},
    .attrs = {{"T", numbers | one_of(dtype::boolean), dtype::boolean}},
    .effects = data_dependent_shape,
    .infer = infer,
    .no_gradient = "coordinates are whole numbers",
    .example = R"(
y = Where(bool[[true, false], [true, true]])
fetch y = i64[[0, 0], [1, 0], [1, 1]]
)",
};

} // namespace troupe::ops::where_op
