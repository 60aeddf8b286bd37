#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/math/elementwise.cpu.hpp"

namespace troupe::ops {
namespace {

struct logistic {
  static constexpr double cost = costly;
  template <class T>
  static void run(const T* from, T* to, int64_t count) requires is_hot<T> {
    flat_map<T>(to, count) = Eigen::Map<const Eigen::Array<T, -1, 1>>(from, count).logistic();
  }
  template <class T>
  T operator()(const T& x) const {
    return T{1} / (T{1} + std::exp(-x));
  }
};

} // namespace

extern constexpr kernel_def sigmoid_cpu{
    .op = "Sigmoid",
    .run = unary_kernels<logistic>(types::floating + types::complex),
};

} // namespace troupe::ops
