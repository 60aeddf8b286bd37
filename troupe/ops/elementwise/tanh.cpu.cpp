#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::tanh_cpu {
namespace {

struct hyperbolic_tangent {
  static constexpr double cost = costly;
  template <class T>
  static void run(const T* from, T* to, int64_t count) requires is_hot<T> {
    flat_map<T>(to, count) = Eigen::Map<const Eigen::Array<T, -1, 1>>(from, count).tanh();
  }
  template <class T>
  T operator()(const T& x) const {
    return std::tanh(x);
  }
};

} // namespace

extern constexpr kernel_def tanh_cpu{
    .op = "Tanh",
    .run = unary_kernels<hyperbolic_tangent>(types::floating + types::complex),
};

} // namespace troupe::ops::tanh_cpu
