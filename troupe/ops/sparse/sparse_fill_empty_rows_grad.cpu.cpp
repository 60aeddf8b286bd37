#include "troupe/ops/state/shared/update.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparse_fill_empty_rows_grad_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto &map = at.input(0), &gradient = at.input(1);
  if (map.rank() != 1 || gradient.rank() != 1)
    return invalid("reverse_index_map and grad_values must be vectors, got shapes ", map.dims(),
                   " and ", gradient.dims());
  TROUPE_ASSIGN(auto* values, at.allocate(0, map.dims()));
  TROUPE_ASSIGN(auto* otherwise, at.allocate(1, shape{}));
  auto places = to_integers(map);
  std::vector<bool> taken(static_cast<size_t>(gradient.elements()));
  const auto* from = gradient.data<T>();
  auto* to = values->template data<T>();
  for (auto place : places) {
    if (place < 0 || place >= gradient.elements())
      return invalid("reverse_index_map has ", place, ", but there are ", gradient.elements(),
                     " gradients");
    taken[static_cast<size_t>(place)] = true;
    *to++ = from[place];
  }
  compute_type<T> rest{};
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i])
      rest = adding{}(rest, compute_type<T>{widen(from[i])});
  *otherwise->template data<T>() = static_cast<T>(rest);
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def sparse_fill_empty_rows_grad_cpu{
    .op = "SparseFillEmptyRowsGrad",
    .run = kernels(types::numbers),
};

} // namespace troupe::ops::sparse_fill_empty_rows_grad_cpu
