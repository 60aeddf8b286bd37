// Shared by the kernels of connectionist temporal classification.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// inputs [time, batch, classes], and the sequence length of each row of the batch.
inline status check_ctc_inputs(const tensor& inputs, const tensor& lengths) {
  const auto& dims = inputs.dims();
  if (dims.rank() != 3 || dims[2] == 0)
    return invalid("inputs must have axes time, batch and classes, got shape ", dims);
  if (lengths.rank() != 1 || lengths.dims()[0] != dims[1])
    return invalid("sequence_length must have one element for each row of the batch, got shape ",
                   lengths.dims(), " for ", dims);
  for (auto length : lengths.values<int32_t>())
    if (length < 0 || length > dims[0])
      return invalid("sequence_length must be in [0, ", dims[0], "], got ", length);
  return {};
}

} // namespace troupe::ops
