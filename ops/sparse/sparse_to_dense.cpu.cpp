#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/ops/sparse/sparse.hpp"

namespace troupe::ops {
namespace {

// Indices as a list of coordinates, however they were given.
result<tensor> listed(const tensor& indices) {
  if (indices.rank() == 2)
    return indices;
  if (indices.rank() > 2)
    return invalid("indices must have at most 2 axes, got shape ", indices.dims());
  return indices.reshaped(shape{indices.elements(), 1});
}

status run(kernel_context& at) {
  const auto &values = at.input(2), &otherwise = at.input(3);
  TROUPE_ASSIGN(auto indices, listed(at.input(0)));
  TROUPE_ASSIGN(auto x, sparse_view::make(indices, at.input(1)));
  if (otherwise.rank() != 0)
    return invalid("default_value must be a scalar, got shape ", otherwise.dims());
  if (values.rank() > 1 || (values.rank() == 1 && values.elements() != x.count()))
    return invalid("there must be a value for each index, or a scalar for all, got shape ",
                   values.dims(), " for ", x.count(), " indices");
  if (at.state<bool>())
    TROUPE_TRY(x.in_order());
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  fill_elements(otherwise, {*out}, out->elements());
  with_unit(values.type(), [&](auto unit_type) {
    using T = typename decltype(unit_type)::type;
    const auto* from = static_cast<const T*>(values.raw());
    auto step = values.rank();
    for (auto position : x.positions()) {
      static_cast<T*>(out->raw())[position] = *from;
      from += step;
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def sparse_to_dense_cpu{
    .op = "SparseToDense",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<bool, "validate_indices">,
};

} // namespace troupe::ops
