#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

namespace troupe::ops::log_cpu {
namespace {

struct logarithm {
  static constexpr double cost = costly;
  static void run(const double* from, double* to, int64_t count) {
    flat_map<double>(to, count) = Eigen::Map<const Eigen::ArrayXd>(from, count).log();
  }
  float operator()(float x) const { return natural_logarithm(x); }
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

} // namespace troupe::ops::log_cpu
