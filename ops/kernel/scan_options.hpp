// Shared by the kernels of Cumsum and Cumprod, on all devices.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct scan_options {
  bool exclusive, reverse;
};

inline result<std::shared_ptr<void>> prepare_scan(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<scan_options>(
      scan_options{setup.origin.attr<bool>("exclusive"), setup.origin.attr<bool>("reverse")})};
}

/// The axis in input 1.
inline result<int> scanned_axis(const kernel_context& at) {
  if (at.input(1).elements() != 1)
    return invalid("axis must be one number, got shape ", at.input(1).dims());
  return resolve_axis(to_integers(at.input(1))[0], at.input(0).rank());
}

} // namespace troupe::ops
