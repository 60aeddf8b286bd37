#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

#include <cmath>

namespace troupe::ops::gamma_cpu {
namespace {

// std::lgamma would write the sign to a global variable that other threads write, too.
struct log_gamma {
  static constexpr double cost = 2 * called;
  float operator()(float x) const {
    int sign;
    return lgammaf_r(x, &sign);
  }
  double operator()(double x) const {
    int sign;
    return lgamma_r(x, &sign);
  }
};

struct digamma_function {
  static constexpr double cost = 5 * called;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(special::digamma(x));
  }
};

struct polygamma_function {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::polygamma(a, x));
  }
};

struct zeta_function {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T x, T q) const {
    return static_cast<T>(special::hurwitz_zeta(x, q));
  }
};

} // namespace

extern constexpr kernel_def lgamma_cpu{
    .op = "Lgamma",
    .run = unary_kernels<log_gamma>(types::floating),
};

extern constexpr kernel_def digamma_cpu{
    .op = "Digamma",
    .run = unary_kernels<digamma_function>(types::floating),
};

extern constexpr kernel_def polygamma_cpu{
    .op = "Polygamma",
    .run = binary_kernels<polygamma_function>(types::floating),
};

extern constexpr kernel_def zeta_cpu{
    .op = "Zeta",
    .run = binary_kernels<zeta_function>(types::floating),
};

} // namespace troupe::ops::gamma_cpu
