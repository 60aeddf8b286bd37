// The kernels of CTCLoss and CTCLossV2.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct ctc_options {
  bool blank_first; ///< whether the blank is the first class; otherwise it is the last
  bool collapse_labels, merge_repeated, ignore_longer;
};

template <bool BlankFirst>
result<std::shared_ptr<void>> prepare_ctc_loss(const kernel_setup& setup) {
  auto flag = [&](std::string_view name) { return setup.origin.attr<bool>(name); };
  return std::shared_ptr<void>{std::make_shared<ctc_options>(
      ctc_options{BlankFirst, flag("preprocess_collapse_repeated"), flag("ctc_merge_repeated"),
                  flag("ignore_longer_outputs_than_inputs")})};
}

/// For float and double.
template <class T>
status run_ctc_loss(kernel_context& at);

} // namespace troupe::ops
