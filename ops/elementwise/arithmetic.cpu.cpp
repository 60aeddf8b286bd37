#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"

namespace troupe::ops::arithmetic_cpu {
namespace {

struct plus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::plus<>{}, a, b);
  }
};

template <class T>
inline __attribute__((always_inline)) void accumulate(compute_type<T>* total, const T* x,
                                                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    total[i] = wrapping(std::plus<>{}, total[i], compute_type<T>{widen(x[i])});
}

template <class T>
TROUPE_SIMD_CLONES void accumulate_hot(T* total, const T* x, int64_t count) {
  accumulate(total, x, count);
}

// Block by block over all inputs: the output may overlap an input that occurs twice.
template <class T>
status add_all_inputs(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  for (int i = 1; i < at.inputs(); ++i)
    if (!(at.input(i).dims() == dims))
      return invalid("all inputs must have one shape, got ", dims, " and ", at.input(i).dims());
  if (at.inputs() == 1) {
    at.set_output(0, at.input(0));
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  auto* to = out->template data<T>();
  at.parallel_for(out->elements(), cheap * at.inputs(), [&](int64_t begin, int64_t end) {
    constexpr int64_t block = 512;
    compute_type<T> total[block];
    for (auto first = begin; first < end; first += block) {
      auto count = std::min(block, end - first);
      std::fill_n(total, count, compute_type<T>{});
      for (int i = 0; i < at.inputs(); ++i) {
        const T* from = at.input(i).template data<T>() + first;
        if constexpr (is_hot<T>)
          accumulate_hot(total, from, count);
        else
          accumulate(total, from, count);
      }
      for (int64_t i = 0; i < count; ++i)
        to[first + i] = static_cast<T>(total[i]);
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, add_all_inputs<Ts>}..., {dtype::variant, add_lists}};
}

struct minus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::minus<>{}, a, b);
  }
};

struct times {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::multiplies<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def add_cpu{
    .op = "Add",
    .run = binary_kernels<plus>(types::numbers + types::string),
};

extern constexpr kernel_def add_v2_cpu{
    .op = "AddV2",
    .run = binary_kernels<plus>(types::numbers),
};

extern constexpr kernel_def add_n_cpu{
    .op = "AddN",
    .run = kernels(types::numbers),
};

extern constexpr kernel_def sub_cpu{
    .op = "Sub",
    .run = binary_kernels<minus>(types::numbers),
};

extern constexpr kernel_def mul_cpu{
    .op = "Mul",
    .run = binary_kernels<times>(types::numbers),
};

} // namespace troupe::ops::arithmetic_cpu
