#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {
namespace {

struct conjunction : total_as_result {
  template <class T>
  static T start() {
    return true;
  }
  template <class T>
  static T step(T a, T b) {
    return a & b;
  }
};

} // namespace

extern constexpr kernel_def all_cpu{
    .op = "All",
    .run = {{dtype::none, reduce<bool, conjunction>}},
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
