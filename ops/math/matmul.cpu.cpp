#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/element_types.hpp"

namespace troupe::ops {
namespace {

struct transposition {
  bool a, b;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<transposition>(
      transposition{setup.of.attr<bool>("transpose_a"), setup.of.attr<bool>("transpose_b")})};
}

struct extents {
  int64_t m, n, k;
};

// Whole and complex numbers. Walks b and c along their rows, so that the inner loop is over
// neighbours.
template <class T>
void multiply(kernel_context& at, bool transpose_a, extents size, const T* a, const T* b, T* c) {
  auto [m, n, k] = size;
  auto look_each = std::max<int64_t>(1, 1'000'000 / n); // about half a millisecond
  at.parallel_for(m, 0.5 * static_cast<double>(n * k), [&](int64_t begin, int64_t end) {
    for (auto row = begin; row < end; ++row) {
      auto* to = c + row * n;
      std::fill_n(to, n, T{});
      for (int64_t i = 0; i < k; ++i) {
        if (i % look_each == look_each - 1 && at.stopped())
          return;
        auto factor = transpose_a ? a[i * m + row] : a[row * k + i];
        for (int64_t j = 0; j < n; ++j)
          to[j] =
              wrapping(std::plus<>{}, to[j], wrapping(std::multiplies<>{}, factor, b[i * n + j]));
      }
    }
  });
}

template <class T>
std::vector<T> transposed(const T* from, int64_t rows, int64_t columns) {
  std::vector<T> to(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
  return to;
}

template <class From, class To>
void convert(kernel_context& at, std::span<From> from, To* to) {
  at.parallel_for(static_cast<int64_t>(from.size()), 0.5, [&](int64_t begin, int64_t end) {
    std::transform(from.data() + begin, from.data() + end, to + begin,
                   [](From x) { return static_cast<To>(x); });
  });
}

// Halves are multiplied as floats.
template <class T>
status multiply_halves(kernel_context& at, transposition across, extents size, tensor& out) {
  auto as_float = [&](const tensor& from) -> result<tensor> {
    TROUPE_ASSIGN(auto made, tensor::make(dtype::f32, from.dims(), at.memory()));
    convert(at, from.values<T>(), made.template data<float>());
    return made;
  };
  TROUPE_ASSIGN(auto a, as_float(at.input(0)));
  TROUPE_ASSIGN(auto b, as_float(at.input(1)));
  TROUPE_ASSIGN(auto c, tensor::make(dtype::f32, out.dims(), at.memory()));
  TROUPE_TRY(gemm(at.device(), across.a, across.b, size.m, size.n, size.k,
                  static_cast<const float*>(a.template data<float>()),
                  static_cast<const float*>(b.template data<float>()), c.template data<float>(),
                  at.stop()));
  convert(at, c.template values<float>(), out.data<T>());
  return {};
}

template <class T>
status matmul(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    return invalid("takes two matrices, got shapes ", a.dims(), " and ", b.dims());
  const auto& across = at.state<transposition>();
  extents size{a.dims()[across.a ? 1 : 0], b.dims()[across.b ? 0 : 1], a.dims()[across.a ? 0 : 1]};
  if (auto inner = b.dims()[across.b ? 1 : 0]; inner != size.k)
    return invalid("the inner extents ", size.k, " and ", inner, " differ: a is ", a.dims(),
                   across.a ? " (transposed)" : "", ", b is ", b.dims(),
                   across.b ? " (transposed)" : "");
  TROUPE_ASSIGN(auto dims, shape::make(std::array{size.m, size.n}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  const T *from_a = a.data<T>(), *from_b = b.data<T>();
  if constexpr (is_half<T>) {
    return multiply_halves<T>(at, across, size, *out);
  } else if constexpr (is_hot<T>) {
    return gemm(at.device(), across.a, across.b, size.m, size.n, size.k, from_a, from_b,
                out->template data<T>(), at.stop());
  } else {
    std::vector<T> turned;
    if (across.b) {
      turned = transposed(from_b, size.n, size.k);
      from_b = turned.data();
    }
    multiply(at, across.a, size, from_a, from_b, out->template data<T>());
    return {};
  }
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, matmul<Ts>}...};
}

} // namespace

extern constexpr kernel_def matmul_cpu{
    .op = "MatMul",
    .run = kernels(types::numbers),
    .prepare = prepare,
};

} // namespace troupe::ops
