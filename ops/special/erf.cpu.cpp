#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>

namespace troupe::ops::erf_cpu {
namespace {

struct error_function {
  static constexpr double cost = costly;
  static void run(const float* from, float* to, int64_t count) {
    flat_map<float>(to, count) = Eigen::Map<const Eigen::ArrayXf>(from, count).erf();
  }
  double operator()(double x) const { return std::erf(x); }
};

struct complementary_error_function {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::erfc(x);
  }
};

} // namespace

extern constexpr kernel_def erf_cpu{
    .op = "Erf",
    .run = unary_kernels<error_function>(types::floating),
};

extern constexpr kernel_def erfc_cpu{
    .op = "Erfc",
    .run = unary_kernels<complementary_error_function>(types::floating),
};

} // namespace troupe::ops::erf_cpu
