#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::hyperbolic_cpu {
namespace {

struct hyperbolic_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::sinh(x);
  }
};

struct hyperbolic_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::cosh(x);
  }
};

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

struct hyperbolic_tangent_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy * (T{1} - y * y);
  }
};

struct inverse_hyperbolic_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::asinh(x);
  }
};

struct inverse_hyperbolic_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::acosh(x);
  }
};

struct inverse_hyperbolic_tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::atanh(x);
  }
};

} // namespace

extern constexpr kernel_def sinh_cpu{
    .op = "Sinh",
    .run = unary_kernels<hyperbolic_sine>(types::floating + types::complex),
};

extern constexpr kernel_def cosh_cpu{
    .op = "Cosh",
    .run = unary_kernels<hyperbolic_cosine>(types::floating + types::complex),
};

extern constexpr kernel_def tanh_cpu{
    .op = "Tanh",
    .run = unary_kernels<hyperbolic_tangent>(types::floating + types::complex),
};

extern constexpr kernel_def tanh_grad_cpu{
    .op = "TanhGrad",
    .run = paired_kernels<hyperbolic_tangent_slope>(types::floating + types::complex),
};

extern constexpr kernel_def asinh_cpu{
    .op = "Asinh",
    .run = unary_kernels<inverse_hyperbolic_sine>(types::floating + types::complex),
};

extern constexpr kernel_def acosh_cpu{
    .op = "Acosh",
    .run = unary_kernels<inverse_hyperbolic_cosine>(types::floating + types::complex),
};

extern constexpr kernel_def atanh_cpu{
    .op = "Atanh",
    .run = unary_kernels<inverse_hyperbolic_tangent>(types::floating + types::complex),
};

} // namespace troupe::ops::hyperbolic_cpu
