#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

namespace troupe::ops::exp_cpu {
namespace {

struct exponential_function {
  static constexpr double cost = costly;
  static void run(const double* from, double* to, int64_t count) {
    flat_map<double>(to, count) = Eigen::Map<const Eigen::ArrayXd>(from, count).exp();
  }
  float operator()(float x) const { return exponential(x); }
  template <class T>
  T operator()(const T& x) const {
    return std::exp(x);
  }
};

} // namespace

extern constexpr kernel_def exp_cpu{
    .op = "Exp",
    .run = unary_kernels<exponential_function>(types::floating + types::complex),
};

} // namespace troupe::ops::exp_cpu
