#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/math/elementwise.cpu.hpp"

namespace troupe::ops {
namespace {

struct logarithm {
  static constexpr double cost = costly;
  template <class T>
  static void run(const T* from, T* to, int64_t count) requires is_hot<T> {
    flat_map<T>(to, count) = Eigen::Map<const Eigen::Array<T, -1, 1>>(from, count).log();
  }
  template <class T>
  T operator()(const T& x) const {
    return std::log(x);
  }
};

} // namespace

extern constexpr kernel_def log_cpu{
    .op = "Log",
    .run = unary_kernels<logarithm>(types::floating + types::complex),
};

} // namespace troupe::ops
