#include "troupe/ops/conv/shared/dilation.hpp"

namespace troupe::ops {

result<partial_shape> infer_dilated(const infer_context& at) {
  TROUPE_ASSIGN(auto options, read_dilation(at));
  TROUPE_ASSIGN(auto input, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto filter, at.of_rank(1, 3));
  auto channels = merge(partial_shape{input[3]}, partial_shape{filter[2]});
  if (!channels)
    return at.invalid("input ", input, " and filter ", filter,
                      " must have the same number of channels, their last axis");
  input.set(3, (*channels)[0]);
  for (int i = 0; i < 2; ++i) {
    TROUPE_ASSIGN(auto windows, options.windows(i, input[i + 1], filter[i]));
    input.set(i + 1, windows);
  }
  return input;
}

} // namespace troupe::ops
