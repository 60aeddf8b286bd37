// What ops share that make real numbers of complex ones.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// The complex number of the type of x that has these parts.
inline edge complex_like(edge x, edge real, edge imag) {
  return x ? build("Complex", {real, imag}, {{"Tout", x.type()}}) : edge{};
}

} // namespace troupe::ops
