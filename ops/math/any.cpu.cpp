#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {
namespace {

struct disjunction : total_as_result {
  template <class T>
  static T start() {
    return false;
  }
  template <class T>
  static T step(T a, T b) {
    return a | b;
  }
};

} // namespace

extern constexpr kernel_def any_cpu{
    .op = "Any",
    .run = {{dtype::none, reduce<bool, disjunction>}},
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
