#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::complex_cpu {
namespace {

// out = fn(x), in the precision of x until it is stored.
template <class T, class Fn>
status part(kernel_context& at) {
  return at.output_type(0) == dtype::f32 ? unary<T, Fn, float>(at) : unary<T, Fn, double>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> part_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, part<Ts, Fn>}...};
}

struct from_parts {
  template <class T>
  std::complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
};

template <class T>
status run(kernel_context& at) {
  return at.output_type(0) == dtype::c64 ? binary<T, from_parts, std::complex<float>>(at)
                                         : binary<T, from_parts, std::complex<double>>(at);
}

struct real_part {
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::real(x);
  }
};

struct imaginary_part {
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::imag(x);
  }
};

struct conjugate {
  template <class T>
  T operator()(const T& x) const {
    return std::conj(x);
  }
};

struct argument {
  static constexpr double cost = called;
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::arg(x);
  }
};

struct modulus {
  static constexpr double cost = called;
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::abs(x);
  }
};

} // namespace

extern constexpr kernel_def complex_cpu{
    .op = "Complex",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

extern constexpr kernel_def real_cpu{
    .op = "Real",
    .run = part_kernels<real_part>(types::complex),
};

extern constexpr kernel_def imag_cpu{
    .op = "Imag",
    .run = part_kernels<imaginary_part>(types::complex),
};

extern constexpr kernel_def conj_cpu{
    .op = "Conj",
    .run = unary_kernels<conjugate>(types::complex),
};

extern constexpr kernel_def angle_cpu{
    .op = "Angle",
    .run = part_kernels<argument>(types::complex),
};

extern constexpr kernel_def complex_abs_cpu{
    .op = "ComplexAbs",
    .run = part_kernels<modulus>(types::complex),
};

} // namespace troupe::ops::complex_cpu
