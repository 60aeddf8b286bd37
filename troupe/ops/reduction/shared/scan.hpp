// What the definitions of Cumsum and Cumprod share.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline result<shapes> infer_scan(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto& dims = at.input(0);
  if (auto axis = at.integers(1); axis && dims.has_rank())
    TROUPE_TRY(resolve_axis(axis->at(0), dims.rank()));
  return shapes{dims};
}

/// Sums from each element to the other end of the axis, where the op goes.
inline edge sums_against(gradient_context& at, edge x) {
  return build("Cumsum", {x, at.input(1)},
               {{"exclusive", at.attr<bool>("exclusive")}, {"reverse", !at.attr<bool>("reverse")}});
}

} // namespace troupe::ops
