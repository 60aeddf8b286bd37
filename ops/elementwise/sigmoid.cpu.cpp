#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::sigmoid_cpu {
namespace {

struct logistic {
  static constexpr double cost = costly;
  static void run(const double* from, double* to, int64_t count) {
    flat_map<double>(to, count) = Eigen::Map<const Eigen::ArrayXd>(from, count).logistic();
  }
  float operator()(float x) const { return logistic_function(x); }
  template <class T>
  T operator()(const T& x) const {
    return T{1} / (T{1} + std::exp(-x));
  }
};

struct logistic_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy * y * (T{1} - y);
  }
};

} // namespace

extern constexpr kernel_def sigmoid_cpu{
    .op = "Sigmoid",
    .run = unary_kernels<logistic>(types::floating + types::complex),
};

extern constexpr kernel_def sigmoid_grad_cpu{
    .op = "SigmoidGrad",
    .run = paired_kernels<logistic_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::sigmoid_cpu
