#include "troupe/ops/quantized/shared/quantization.hpp"

namespace troupe::ops {

result<quantization> quantization_mode(std::string_view name) {
  if (name == "MIN_COMBINED")
    return quantization::min_combined;
  if (name == "MIN_FIRST")
    return quantization::min_first;
  if (name == "SCALED")
    return quantization::scaled;
  return invalid("mode must be MIN_COMBINED, MIN_FIRST or SCALED, got '", name, "'");
}

result<quantized_slices> quantized_slices_of(const shape& dims, int64_t axis,
                                             const tensor& min_range, const tensor& max_range) {
  quantized_slices slices{1, 1, dims.elements()};
  if (axis < -1 || axis >= dims.rank())
    return invalid("axis must be -1 or one of the axes of ", dims, ", got ", axis);
  if (axis >= 0) {
    auto along = static_cast<int>(axis);
    slices = {product(dims, 0, along), dims[along], product(dims, along + 1, dims.rank())};
  }
  auto rank = axis < 0 ? 0 : 1;
  for (const auto* range : {&min_range, &max_range})
    if (range->rank() != rank || range->elements() != slices.count)
      return invalid("min_range and max_range must have ", slices.count,
                     rank == 0 ? " element" : " elements", ", got shape ", range->dims());
  return slices;
}

result<partial_shape> infer_ranges(const infer_context& at) {
  TROUPE_TRY(quantization_mode(at.attr<std::string>("mode")));
  const auto& dims = at.input(0);
  auto axis = at.attr<int64_t>("axis");
  if (axis < -1 || (dims.has_rank() && axis >= dims.rank()))
    return at.invalid("axis must be -1 or one of the axes of ", dims, ", got ", axis);
  auto range = axis < 0          ? partial_shape{shape{}}
               : dims.has_rank() ? partial_shape{dims[static_cast<int>(axis)]}
                                 : partial_shape::of_rank(1);
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(range, merge(range, at.input(i)));
  }
  return range;
}

} // namespace troupe::ops
