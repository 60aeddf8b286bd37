#include "troupe/ops/kernel/rows.hpp"

#include <algorithm>

namespace troupe::ops {

status infer_rows(const infer_context& at, const partial_shape& dims, int indices, int values,
                  int index_rank) {
  if (dims.has_rank() && dims.rank() == 0)
    return at.invalid("the variable must have rows, got a scalar");
  if (index_rank >= 0)
    TROUPE_TRY(at.of_rank(indices, index_rank));
  const auto &index_shape = at.input(indices), &value_shape = at.input(values);
  if (!dims.has_rank() || !index_shape.has_rank() || (index_rank < 0 && value_shape.rank() == 0))
    return {};
  std::vector<int64_t> extents{index_shape.extents().begin(), index_shape.extents().end()};
  extents.insert(extents.end(), dims.extents().begin() + 1, dims.extents().end());
  partial_shape expected_shape{std::move(extents)};
  if (!expected_shape.compatible(value_shape))
    return at.invalid("input ", values, " must have the shape ", expected_shape,
                      ": that of the indices, then that of a row; got ", value_shape);
  return {};
}

status check_rows(const tensor& indices, const tensor& to, const tensor& values, int index_rank) {
  if (to.rank() == 0)
    return invalid("the variable must have rows, got a scalar");
  if (index_rank >= 0 && indices.rank() != index_rank)
    return invalid("indices must have ", index_rank, " axes, got shape ", indices.dims());
  auto index_dims = indices.dims().extents(), row = to.dims().extents().subspan(1);
  auto value_dims = values.dims().extents();
  auto fits = value_dims.size() == index_dims.size() + row.size() &&
              std::ranges::equal(value_dims.first(index_dims.size()), index_dims) &&
              std::ranges::equal(value_dims.subspan(index_dims.size()), row);
  if (!fits && (index_rank >= 0 || values.rank() != 0))
    return invalid("indices have shape ", indices.dims(), ", the variable has a value of shape ",
                   to.dims(), ": there must be values for each index and each element of a row, ",
                   "got shape ", values.dims());
  return {};
}

result<integer_list> rows_to_update(const tensor& indices, const tensor& to, const tensor& values,
                                    int index_rank) {
  TROUPE_TRY(check_rows(indices, to, values, index_rank));
  auto rows = to_integers(indices);
  for (auto index_value : rows)
    if (index_value < 0 || index_value >= to.dims()[0])
      return invalid("indices has ", index_value, ", but the variable has the rows [0, ",
                     to.dims()[0], ')');
  return rows;
}

} // namespace troupe::ops
