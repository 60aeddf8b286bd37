#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::cos_cpu {
namespace {

struct cosine {
  static constexpr double cost = called;
  static void run(const float* from, float* to, int64_t count) {
    flat_map<float>(to, count) = Eigen::Map<const Eigen::ArrayXf>(from, count).cos();
  }
  template <class T>
  T operator()(const T& x) const {
    return std::cos(x);
  }
};

} // namespace

extern constexpr kernel_def cos_cpu{
    .op = "Cos",
    .run = unary_kernels<cosine>(types::floating + types::complex),
};

} // namespace troupe::ops::cos_cpu
