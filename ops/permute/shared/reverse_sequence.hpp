// The axes of ReverseSequence, on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops {

struct sequence_axes {
  int64_t along, batch;
};

inline result<std::shared_ptr<void>> keep_sequence_axes(const kernel_setup& setup) {
  sequence_axes axes{setup.origin.attr<int64_t>("seq_dim"),
                     setup.origin.attr<int64_t>("batch_dim")};
  return std::shared_ptr<void>{std::make_shared<sequence_axes>(axes)};
}

/// Fails where the inputs do not have these axes.
inline status check_sequences(const kernel_context& at, sequence_axes axes) {
  const auto& dims = at.input(0).dims();
  auto [along, batch] = axes;
  if (along < 0 || batch < 0 || along == batch || std::max(along, batch) >= dims.rank())
    return invalid("seq_dim and batch_dim must be two axes of ", dims, ", got ", along, " and ",
                   batch);
  auto rows = dims[static_cast<int>(batch)];
  if (!(at.input(1).dims() == shape{rows}))
    return invalid("seq_lengths must list ", rows, " lengths, got shape ", at.input(1).dims());
  return {};
}

} // namespace troupe::ops
