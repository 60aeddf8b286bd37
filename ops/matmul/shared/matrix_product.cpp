#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops {
namespace {

partial_shape without_matrix(const partial_shape& dims) {
  auto front = dims.extents().first(static_cast<size_t>(dims.rank() - 2));
  return partial_shape{std::vector<int64_t>{front.begin(), front.end()}};
}

shape without_matrix(const shape& dims) {
  shape front;
  for (int axis = 0; axis + 2 < dims.rank(); ++axis)
    front.push_back(dims[axis]);
  return front;
}

// Converts a strided_iterator that counts matrices to one that counts elements.
strided_iterator in_elements(const strided_iterator& matrices, int64_t elements_a,
                             int64_t elements_b) {
  strided_iterator scaled;
  for (int axis = 0; axis < matrices.rank(); ++axis)
    scaled.push_back(matrices.extent(axis), {matrices.stride(axis, 0) * elements_a,
                                             matrices.stride(axis, 1) * elements_b});
  return scaled;
}

template <class Shape>
status differ(int64_t inner_a, const Shape& a, bool transpose_a, int64_t inner_b, const Shape& b,
              bool transpose_b) {
  return invalid("the inner extents ", inner_a, " of a ", a, transpose_a ? " (transposed)" : "",
                 " and ", inner_b, " of b ", b, transpose_b ? " (transposed)" : "", " differ");
}

} // namespace

result<planned_product> plan_product(const shape& a, matrix_use use_a, const shape& b,
                                     matrix_use use_b) {
  auto across_a = a.rank() - 1 - (use_a.transpose ? 0 : 1);
  auto inner_a = a.rank() - 1 - (use_a.transpose ? 1 : 0);
  auto across_b = b.rank() - 1 - (use_b.transpose ? 1 : 0);
  auto inner_b = b.rank() - 1 - (use_b.transpose ? 0 : 1);
  if (a[inner_a] != b[inner_b])
    return differ(a[inner_a], a, use_a.transpose, b[inner_b], b, use_b.transpose);
  auto front_a = without_matrix(a), front_b = without_matrix(b);
  TROUPE_ASSIGN(auto front, broadcast(front_a, front_b));
  planned_product planned{{use_a, use_b, a[across_a], b[across_b], a[inner_a], {}}, {}};
  planned.dims = front;
  planned.dims.push_back(planned.what.m);
  planned.dims.push_back(planned.what.n);
  TROUPE_TRY(shape::make(planned.dims.extents())); // fails for too many elements
  planned.what.batches =
      in_elements(strided_iterator::broadcast(front, front_a, front_b),
                  planned.what.m * planned.what.k, planned.what.k * planned.what.n);
  return planned;
}

result<partial_shape> infer_product(const partial_shape& a, bool transpose_a,
                                    const partial_shape& b, bool transpose_b) {
  for (const auto* operand : {&a, &b})
    if (operand->has_rank() && operand->rank() < 2)
      return invalid("takes matrices, got shape ", *operand);
  if (!a.has_rank() || !b.has_rank())
    return partial_shape::unknown();
  auto row = a.rank() - 2, column = b.rank() - 2;
  auto inner_a = a[row + (transpose_a ? 0 : 1)], inner_b = b[column + (transpose_b ? 1 : 0)];
  if (inner_a != inner_b && inner_a != unknown_extent && inner_b != unknown_extent)
    return differ(inner_a, a, transpose_a, inner_b, b, transpose_b);
  TROUPE_ASSIGN(auto front, broadcast(without_matrix(a), without_matrix(b)));
  std::vector<int64_t> extents{front.extents().begin(), front.extents().end()};
  extents.push_back(a[row + (transpose_a ? 1 : 0)]);
  extents.push_back(b[column + (transpose_b ? 0 : 1)]);
  return partial_shape::make(extents);
}

matrix_product joined(matrix_product product) {
  const auto& batches = product.batches;
  if (batches.rank() == 1 && batches.stride(0, 1) == 0 &&
      batches.stride(0, 0) == product.m * product.k && !product.a.transpose) {
    product.m *= batches.extent(0);
    product.batches = {};
  }
  return product;
}

double product_flops(const partial_shape& a, bool transpose_a, const partial_shape& product) {
  if (!a.has_rank() || !product.has_rank())
    return 1;
  auto inner = a[a.rank() - (transpose_a ? 2 : 1)];
  double count = inner < 0 ? 2 : 2 * static_cast<double>(inner);
  for (auto extent : product.extents())
    count *= static_cast<double>(extent < 0 ? 1 : extent);
  return count;
}

} // namespace troupe::ops
