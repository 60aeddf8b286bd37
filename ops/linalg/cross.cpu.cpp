#include "troupe/ops/kernel/element_types.hpp"

#include <functional>

namespace troupe::ops::cross_cpu {
namespace {

// a * d - b * c
template <class T>
T determinant(const T& a, const T& b, const T& c, const T& d) {
  auto times = [](const T& x, const T& y) {
    auto product =
        wrapping(std::multiplies<>{}, compute_type<T>{widen(x)}, compute_type<T>{widen(y)});
    return product;
  };
  return static_cast<T>(wrapping(std::minus<>{}, times(a, d), times(b, c)));
}

template <class T>
status run(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1);
  const auto& dims = a.dims();
  if (!(dims == b.dims()) || dims.rank() == 0 || dims[dims.rank() - 1] != 3)
    return invalid("a and b must have the same shape, whose last axis has 3 elements, got ", dims,
                   " and ", b.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const T *from_a = a.data<T>(), *from_b = b.data<T>();
  auto* to = out->template data<T>();
  at.parallel_for(a.elements() / 3, 2, [&](int64_t begin, int64_t end) {
    for (auto i = 3 * begin; i < 3 * end; i += 3) {
      const T *x = from_a + i, *y = from_b + i;
      for (int axis = 0; axis < 3; ++axis) {
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        to[i + axis] = determinant(x[next], x[last], y[next], y[last]);
      }
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def cross_cpu{
    .op = "Cross",
    .run = kernels(types::real_numbers),
};

} // namespace troupe::ops::cross_cpu
