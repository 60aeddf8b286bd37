#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::exponential_cpu {
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

struct less_one {
  static constexpr double cost = costly;
  float operator()(float x) const { return x > 80.f ? exponential(x) : exponential_minus_one(x); }
  double operator()(double x) const { return std::expm1(x); }
  // e^a (cos b + i sin b) - 1, with 1 - cos b = 2 sin(b / 2)^2
  template <class T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    auto a = x.real(), b = x.imag();
    if (b == 0)
      return {std::expm1(a), b};
    auto s = std::sin(b / 2);
    return {std::expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b)};
  }
};

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

struct logarithm_plus_one {
  static constexpr double cost = costly;
  float operator()(float x) const { return logarithm_of_one_more(x); }
  double operator()(double x) const { return std::log1p(x); }
  // Near 0 from |1 + x|^2 - 1, because the sum 1 + x would lose digits.
  template <class T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    auto a = x.real(), b = x.imag();
    if (!(std::abs(a) < T(0.5) && std::abs(b) < T(0.5)))
      return std::log(T{1} + x);
    return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
  }
};

struct zero_or_quotient {
  static constexpr double cost = cheap;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return x == T{} ? T{} : x / y;
  }
};

struct times_logarithm {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return x == T{} ? T{} : x * std::log(y);
  }
};

} // namespace

extern constexpr kernel_def exp_cpu{
    .op = "Exp",
    .run = unary_kernels<exponential_function>(types::floating + types::complex),
};

extern constexpr kernel_def expm1_cpu{
    .op = "Expm1",
    .run = unary_kernels<less_one>(types::floating + types::complex),
};

extern constexpr kernel_def log_cpu{
    .op = "Log",
    .run = unary_kernels<logarithm>(types::floating + types::complex),
};

extern constexpr kernel_def log1p_cpu{
    .op = "Log1p",
    .run = unary_kernels<logarithm_plus_one>(types::floating + types::complex),
};

extern constexpr kernel_def xdivy_cpu{
    .op = "Xdivy",
    .run = binary_kernels<zero_or_quotient>(types::floating + types::complex),
};

extern constexpr kernel_def xlogy_cpu{
    .op = "Xlogy",
    .run = binary_kernels<times_logarithm>(types::floating + types::complex),
};

} // namespace troupe::ops::exponential_cpu
