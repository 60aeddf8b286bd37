#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparse_fill_empty_rows_cpu {
namespace {

status run_sparse_fill_empty_rows(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  const auto& otherwise = at.input(3);
  if (otherwise.rank() != 0)
    return invalid("default_value must be a scalar, got shape ", otherwise.dims());
  if (x.rank() == 0)
    return invalid("the sparse tensor must have rows, got a scalar");
  auto rows = x.dims()[0], rank = int64_t{x.rank()};
  TROUPE_ASSIGN(auto* empty, at.allocate(2, shape{rows}));
  std::ranges::fill(empty->values<bool>(), true);
  TROUPE_ASSIGN(auto* map, at.allocate(3, shape{x.count()}));
  // next[r]: the output position of the next element of row r.
  std::vector<int64_t> next(static_cast<size_t>(rows) + 1);
  for (int64_t i = 0; i < x.count(); ++i) {
    ++next[static_cast<size_t>(x.index(i)[0]) + 1];
    empty->data<bool>()[x.index(i)[0]] = false;
  }
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
    next[row + 1] += next[row] + (empty->data<bool>()[row] ? 1 : 0);
  auto count = next[static_cast<size_t>(rows)];
  TROUPE_ASSIGN(auto* indices, at.allocate(0, shape{count, rank}));
  TROUPE_ASSIGN(auto* values, at.allocate(1, shape{count}));
  auto* to = indices->data<int64_t>();
  for (int64_t row = 0; row < rows; ++row)
    if (auto place = next[static_cast<size_t>(row)]; empty->data<bool>()[row]) {
      std::fill_n(to + place * rank, rank, 0);
      to[place * rank] = row;
      copy_elements({otherwise}, {*values, place}, 1);
    }
  for (int64_t i = 0; i < x.count(); ++i) {
    auto place = next[static_cast<size_t>(x.index(i)[0])]++;
    std::ranges::copy(x.index(i), to + place * rank);
    copy_elements({x.values(), i}, {*values, place}, 1);
    map->data<int64_t>()[i] = place;
  }
  return {};
}

template <class T>
status run_sparse_fill_empty_rows_grad(kernel_context& at) {
  const auto &map = at.input(0), &gradient = at.input(1);
  if (map.rank() != 1 || gradient.rank() != 1)
    return invalid("reverse_index_map and grad_values must be vectors, got shapes ", map.dims(),
                   " and ", gradient.dims());
  TROUPE_ASSIGN(auto* values, at.allocate(0, map.dims()));
  TROUPE_ASSIGN(auto* otherwise, at.allocate(1, shape{}));
  auto places = to_integers(map);
  std::vector<bool> has_element(static_cast<size_t>(gradient.elements()));
  const auto* from = gradient.data<T>();
  auto* to = values->template data<T>();
  for (auto place : places) {
    if (place < 0 || place >= gradient.elements())
      return invalid("reverse_index_map has ", place, ", but there are ", gradient.elements(),
                     " gradients");
    has_element[static_cast<size_t>(place)] = true;
    *to++ = from[place];
  }
  compute_type<T> default_gradient{};
  for (size_t i = 0; i < has_element.size(); ++i)
    if (!has_element[i])
      default_gradient = adding{}(default_gradient, compute_type<T>{widen(from[i])});
  *otherwise->template data<T>() = static_cast<T>(default_gradient);
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_sparse_fill_empty_rows_grad<Ts>}...};
}

} // namespace

extern constexpr kernel_def sparse_fill_empty_rows_cpu{
    .op = "SparseFillEmptyRows",
    .run = {{dtype::none, run_sparse_fill_empty_rows}},
};

extern constexpr kernel_def sparse_fill_empty_rows_grad_cpu{
    .op = "SparseFillEmptyRowsGrad",
    .run = kernels(types::numbers),
};

} // namespace troupe::ops::sparse_fill_empty_rows_cpu
