#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops {
namespace {

edge counting(edge x, int from_end) {
  auto number = [&](int64_t value) { return constant_like(x, tensor::scalar(value)); };
  return build("Range", {number(0), extent_of(x, from_end), number(1)});
}

// Keeps the elements of x whose row compares with their column as given; the others become zero.
edge where(const char* comparison, edge x) {
  auto chosen = build(comparison, {as_column(counting(x, 2)), counting(x, 1)});
  return x * cast_to(chosen, x.type());
}

edge expanded(edge x, int64_t axis) {
  return build("ExpandDims", {x, constant_like(x, tensor::scalar(axis))});
}

} // namespace

result<partial_shape> matrices_at(const infer_context& at, int i) {
  const auto& dims = at.input(i);
  if (dims.has_rank() && dims.rank() < 2)
    return at.invalid("takes matrices, got shape ", dims, " as input ", i);
  return dims;
}

result<partial_shape> square_matrices_at(const infer_context& at, int i) {
  TROUPE_ASSIGN(auto dims, matrices_at(at, i));
  if (!dims.has_rank())
    return dims;
  auto row = dims.rank() - 2, column = dims.rank() - 1;
  auto joint = merge(partial_shape{dims[row]}, partial_shape{dims[column]});
  if (!joint)
    return at.invalid("matrices must be square, got shape ", dims);
  dims.set(row, (*joint)[0]);
  dims.set(column, (*joint)[0]);
  return dims;
}

result<partial_shape> with_matrix(const partial_shape& matrices,
                                  std::initializer_list<int64_t> last) {
  if (!matrices.has_rank())
    return matrices;
  std::vector<int64_t> extents{matrices.extents().begin(), matrices.extents().end() - 2};
  extents.insert(extents.end(), last);
  return partial_shape::make(extents);
}

result<shapes> infer_square(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  return shapes{dims};
}

edge product(edge a, edge b, bool adjoint_a, bool adjoint_b) {
  return build("BatchMatMulV2", {a, b}, {{"adj_x", adjoint_a}, {"adj_y", adjoint_b}});
}

edge extent_of(edge x, int from_end) {
  const auto& dims = x.dims();
  if (dims.has_rank() && dims[dims.rank() - from_end] != unknown_extent)
    return constant_like(x, tensor::scalar(dims[dims.rank() - from_end]));
  auto axis = build("Rank", {x}) - constant_like(x, tensor::scalar(int32_t{from_end}));
  return build("Gather", {shape_of(x), axis});
}

edge identity_like(edge x) {
  auto places = counting(x, 1);
  return cast_to(build("Equal", {as_column(places), places}), x.type());
}

edge lower_triangle(edge x) { return where("GreaterEqual", x); }

edge upper_triangle(edge x) { return where("LessEqual", x); }

edge half_lower_triangle(edge x) {
  return scalar_like(x, 0.5) * (where("Greater", x) + where("GreaterEqual", x));
}

edge half_upper_triangle(edge x) {
  return scalar_like(x, 0.5) * (where("Less", x) + where("LessEqual", x));
}

edge as_column(edge vector) { return expanded(vector, -1); }

edge as_row(edge vector) { return expanded(vector, -2); }

edge as_matrix(edge numbers) { return expanded(expanded(numbers, -1), -1); }

} // namespace troupe::ops
