#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/sparse/shared/sparse_matmul.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_tensor_dense_cpu {
namespace {

template <class T>
status run_sparse_tensor_dense_add(kernel_context& at) {
  const auto& b = at.input(3);
  TROUPE_ASSIGN(auto a, sparse_view::read(at, sparse_inputs{0}));
  if (!(a.dims() == b.dims()))
    return invalid("the sparse tensor has shape ", a.dims(), ", the dense one ", b.dims());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {3}, b.dims()));
  auto* to = out->template data<T>();
  if (to != b.data<T>())
    std::copy_n(b.data<T>(), b.elements(), to);
  const auto* from = a.values().data<T>();
  for (auto position : a.positions()) {
    to[position] = static_cast<T>(adding{}(widen(to[position]), widen(*from)));
    ++from;
  }
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_tensor_dense_add_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_sparse_tensor_dense_add<Ts>}...};
}

// Computes rows of the product, each by a single thread: adds each element of a times a row of b.
template <class T>
struct sparse_matmul {
  using wide = compute_type<T>;

  sparse_matmul(const sparse_view& a_, const tensor& b_, bool across_a_, bool across_b_)
      : a(a_), b(b_.data<T>()), across_a(across_a_), across_b(across_b_),
        columns(b_.dims()[across_b ? 0 : 1]), inner(b_.dims()[across_b ? 1 : 0]) {}

  static wide adjoint(const wide& x) {
    if constexpr (is_complex<T>)
      return std::conj(x);
    else
      return x;
  }

  void add(int64_t i, wide* product) const {
    auto index = a.index(i);
    auto row = index[across_a ? 1 : 0], k = index[across_a ? 0 : 1];
    auto value = wide{widen(a.values().data<T>()[i])};
    value = across_a ? adjoint(value) : value;
    auto* to = product + row * columns;
    for (int64_t j = 0; j < columns; ++j) {
      auto factor =
          across_b ? adjoint(wide{widen(b[j * inner + k])}) : wide{widen(b[k * columns + j])};
      to[j] = adding{}(to[j], multiplying{}(value, factor));
    }
  }

  const sparse_view& a;
  const T* b;
  bool across_a, across_b;
  int64_t columns, inner;
};

template <class T>
status run_sparse_tensor_dense_matmul(kernel_context& at) {
  using wide = compute_type<T>;
  const auto& b = at.input(3);
  const auto& across = at.state<adjoints>();
  TROUPE_ASSIGN(auto a, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto dims, sparse_product(a.dims(), b.dims(), across));
  sparse_matmul<T> multiplier{a, b, across.a, across.b};
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  // Halves are summed as floats, and rounded once.
  std::vector<wide> sums(is_half<T> ? static_cast<size_t>(out->elements()) : 0);
  wide* product = sums.data();
  if constexpr (!is_half<T>) {
    product = out->template data<T>();
    std::fill_n(product, out->elements(), T{});
  }
  auto hands = int64_t{at.device().threads()};
  auto cost = static_cast<double>(a.count() * multiplier.columns) / static_cast<double>(hands);
  at.parallel_for(hands, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a.count(); ++i)
      if (auto hand = a.index(i)[across.a ? 1 : 0] % hands; hand >= begin && hand < end)
        multiplier.add(i, product);
  });
  if constexpr (is_half<T>)
    std::ranges::transform(sums, out->template data<T>(),
                           [](wide sum) { return static_cast<T>(sum); });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_tensor_dense_matmul_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_sparse_tensor_dense_matmul<Ts>}...};
}

} // namespace

extern constexpr kernel_def sparse_tensor_dense_add_cpu{
    .op = "SparseTensorDenseAdd",
    .run = sparse_tensor_dense_add_kernels(types::numbers),
};

extern constexpr kernel_def sparse_tensor_dense_matmul_cpu{
    .op = "SparseTensorDenseMatMul",
    .run =
        sparse_tensor_dense_matmul_kernels(types::floating + types::complex + type_list<int32_t>{}),
    .prepare = keep_adjoints,
};

} // namespace troupe::ops::sparse_tensor_dense_cpu
