#include "troupe/ops/define/scalar.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops::sparse_add_cpu {
namespace {

// Absolute values are compared as doubles; those of whole numbers without a sign would wrap.
template <class T>
double magnitude(const T& value) {
  if constexpr (is_complex<T>)
    return static_cast<double>(std::abs(value));
  else
    return std::abs(static_cast<double>(widen(value)));
}

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto a, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, sparse_view::read(at, sparse_inputs{3}));
  if (!(a.dims() == b.dims()))
    return invalid("a has shape ", a.dims(), ", b has ", b.dims());
  TROUPE_TRY(a.in_order());
  TROUPE_TRY(b.in_order());
  const auto& least = at.input(6);
  if (least.rank() != 0)
    return invalid("thresh must be a scalar, got shape ", least.dims());
  auto thresh = to_double(least);
  std::vector<int64_t> positions;
  std::vector<T> values;
  for (auto [i, k] : pair_up(a, b)) {
    auto value = i < 0   ? b.values().data<T>()[k]
                 : k < 0 ? a.values().data<T>()[i]
                         : static_cast<T>(adding{}(widen(a.values().data<T>()[i]),
                                                   widen(b.values().data<T>()[k])));
    if (i >= 0 && k >= 0 && magnitude(value) < thresh)
      continue;
    values.push_back(value);
    positions.push_back(i < 0 ? b.positions()[static_cast<size_t>(k)]
                              : a.positions()[static_cast<size_t>(i)]);
  }
  TROUPE_TRY(make_indices(at, 0, positions, a.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(1, shape{static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, out->template data<T>());
  return make_dims(at, 2, a.dims());
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def sparse_add_cpu{
    .op = "SparseAdd",
    .run = kernels(types::numbers),
};

} // namespace troupe::ops::sparse_add_cpu
