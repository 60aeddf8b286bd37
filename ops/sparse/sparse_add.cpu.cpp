#include "troupe/ops/define/scalar.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <cmath>

namespace troupe::ops::sparse_add_cpu {
namespace {

// Absolute values are compared as doubles; unsigned differences would wrap around.
template <class T>
double magnitude(const T& value) {
  if constexpr (is_complex<T>)
    return static_cast<double>(std::abs(value));
  else
    return std::abs(static_cast<double>(widen(value)));
}

template <class T>
status run_sparse_add(kernel_context& at) {
  TROUPE_ASSIGN(auto a, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, sparse_view::read(at, sparse_inputs{3}));
  if (!(a.dims() == b.dims()))
    return invalid("a has shape ", a.dims(), ", b has ", b.dims());
  TROUPE_TRY(a.in_order());
  TROUPE_TRY(b.in_order());
  const auto& threshold = at.input(6);
  if (threshold.rank() != 0)
    return invalid("thresh must be a scalar, got shape ", threshold.dims());
  auto thresh = to_double(threshold);
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
  return {{dtype_of<Ts>, run_sparse_add<Ts>}...};
}

// A list of indices with the same number of coordinates.
struct index_list {
  integer_list coordinates;
  int64_t count, rank;
  std::span<const int64_t> operator[](int64_t i) const {
    return {coordinates.data() + i * rank, static_cast<size_t>(rank)};
  }
};

status hand_back(kernel_context& at, int to, const index_list& sum) {
  const auto& gradient = at.input(0);
  const auto& operand_indices = at.input(1 + to);
  if (operand_indices.rank() != 2 || operand_indices.dims()[1] != sum.rank)
    return invalid("indices must have the shape [count,", sum.rank, "], as those of the sum, got ",
                   operand_indices.dims());
  index_list index_list_of_operand{to_integers(operand_indices), operand_indices.dims()[0],
                                   sum.rank};
  TROUPE_ASSIGN(auto* out, at.allocate(to, shape{index_list_of_operand.count}));
  std::memset(out->raw(), 0, out->bytes());
  int64_t next = 0;
  for (int64_t i = 0; i < index_list_of_operand.count; ++i) {
    while (next < sum.count &&
           std::ranges::lexicographical_compare(sum[next], index_list_of_operand[i]))
      ++next;
    if (next < sum.count && std::ranges::equal(sum[next], index_list_of_operand[i]))
      copy_elements({gradient, next}, {*out, i}, 1);
  }
  return {};
}

status run_sparse_add_grad(kernel_context& at) {
  const auto &gradient = at.input(0), &summed = at.input(3);
  if (gradient.rank() != 1 || summed.rank() != 2 || summed.dims()[0] != gradient.elements())
    return invalid("there must be a gradient for each index of the sum, got shapes ",
                   gradient.dims(), " and ", summed.dims());
  index_list sum{to_integers(summed), summed.dims()[0], summed.dims()[1]};
  TROUPE_TRY(hand_back(at, 0, sum));
  return hand_back(at, 1, sum);
}

} // namespace

extern constexpr kernel_def sparse_add_cpu{
    .op = "SparseAdd",
    .run = kernels(types::numbers),
};

extern constexpr kernel_def sparse_add_grad_cpu{
    .op = "SparseAddGrad",
    .run = {{dtype::none, run_sparse_add_grad}},
};

} // namespace troupe::ops::sparse_add_cpu
