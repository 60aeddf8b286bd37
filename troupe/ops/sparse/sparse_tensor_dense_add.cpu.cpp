#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_tensor_dense_add_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
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
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def sparse_tensor_dense_add_cpu{
    .op = "SparseTensorDenseAdd",
    .run = kernels(types::numbers),
};

} // namespace troupe::ops::sparse_tensor_dense_add_cpu
