#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::sin_cpu {
namespace {

struct sine {
  static constexpr double cost = called;
  static void run(const float* from, float* to, int64_t count) {
    flat_map<float>(to, count) = Eigen::Map<const Eigen::ArrayXf>(from, count).sin();
  }
  template <class T>
  T operator()(const T& x) const {
    return std::sin(x);
  }
};

} // namespace

extern constexpr kernel_def sin_cpu{
    .op = "Sin",
    .run = unary_kernels<sine>(types::floating + types::complex),
};

} // namespace troupe::ops::sin_cpu
