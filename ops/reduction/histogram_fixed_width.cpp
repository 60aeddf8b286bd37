// HistogramFixedWidth: counts values in intervals of equal width.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::histogram_fixed_width_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto range, at.of_rank(1, 1));
  if (range[0] != 2 && range[0] != unknown_extent)
    return at.invalid("value_range must have two elements, got shape ", range);
  TROUPE_TRY(at.of_rank(2, 0));
  auto bins = at.integers(2);
  if (bins && bins->at(0) <= 0)
    return at.invalid("nbins must be positive, got ", bins->at(0));
  return shapes{partial_shape{bins ? bins->at(0) : unknown_extent}};
}

} // namespace

extern constexpr op_def histogram_fixed_width{
    .name = "HistogramFixedWidth",
    .doc = "Counts how many values lie in each of nbins intervals that divide value_range "
           "evenly.\n\nValues below the range count in the first interval, values above it in the "
           "last one; NaN is not counted.",
    .inputs = {{"values", "T"}, {"value_range", "T"}, on_host("nbins", "i32")},
    .outputs = {{"out", "dtype"}},
    .attrs = {{"T", one_of(dtype::i32, dtype::i64, dtype::f32, dtype::f64)},
              {"dtype", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "counts are whole numbers and jump",
    .example = R"(
y = HistogramFixedWidth(f32[-1, 0, 1.5, 2, 5, 15], f32[0, 5], i32(5))
fetch y = i32[2, 1, 1, 0, 2]
)",
};

} // namespace troupe::ops::histogram_fixed_width_op
