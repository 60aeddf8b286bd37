#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::complex_cpu {
namespace {

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

} // namespace

extern constexpr kernel_def complex_cpu{
    .op = "Complex",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

} // namespace troupe::ops::complex_cpu
