#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::trigonometric_cpu {
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

struct tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::tan(x);
  }
};

struct inverse_sine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::asin(x);
  }
};

struct inverse_cosine {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::acos(x);
  }
};

struct inverse_tangent {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::atan(x);
  }
};

struct angle_of_point {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& y, const T& x) const {
    return std::atan2(y, x);
  }
};

} // namespace

extern constexpr kernel_def sin_cpu{
    .op = "Sin",
    .run = unary_kernels<sine>(types::floating + types::complex),
};

extern constexpr kernel_def cos_cpu{
    .op = "Cos",
    .run = unary_kernels<cosine>(types::floating + types::complex),
};

extern constexpr kernel_def tan_cpu{
    .op = "Tan",
    .run = unary_kernels<tangent>(types::floating + types::complex),
};

extern constexpr kernel_def asin_cpu{
    .op = "Asin",
    .run = unary_kernels<inverse_sine>(types::floating + types::complex),
};

extern constexpr kernel_def acos_cpu{
    .op = "Acos",
    .run = unary_kernels<inverse_cosine>(types::floating + types::complex),
};

extern constexpr kernel_def atan_cpu{
    .op = "Atan",
    .run = unary_kernels<inverse_tangent>(types::floating + types::complex),
};

extern constexpr kernel_def atan2_cpu{
    .op = "Atan2",
    .run = binary_kernels<angle_of_point>(types::floating),
};

} // namespace troupe::ops::trigonometric_cpu
