#include "troupe/ops/permute/shared/transpose.hpp"

#include <algorithm>

namespace troupe::ops::transpose_cpu {
namespace {

status real(kernel_context& at) {
  TROUPE_ASSIGN(auto out, transposed(at));
  at.set_output(0, std::move(out));
  return {};
}

template <class T>
status conjugated(kernel_context& at) {
  TROUPE_ASSIGN(auto moved, transposed(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, moved.dims()));
  const T* from = moved.data<T>();
  T* to = out->template data<T>();
  at.parallel_for(moved.elements(), 0.5, [&](int64_t begin, int64_t end) {
    std::transform(from + begin, from + end, to + begin, [](const T& z) { return std::conj(z); });
  });
  return {};
}

} // namespace

extern constexpr kernel_def conjugate_transpose_cpu{
    .op = "ConjugateTranspose",
    .run = {{dtype::c64, conjugated<std::complex<float>>},
            {dtype::c128, conjugated<std::complex<double>>},
            {dtype::none, real}},
};

} // namespace troupe::ops::transpose_cpu
