#include "troupe/ops/define/dims.hpp"

#include <algorithm>

namespace troupe::ops {

result<partial_shape> listed_shape(const infer_context& at, int i) {
  TROUPE_ASSIGN(auto vector, at.of_rank(i, 1));
  if (auto values = at.integers(i))
    return partial_shape::make(*values);
  auto source = at.source(i);
  if (source.node->op().name == "Shape")
    return source.node->inputs()[0].dims();
  auto rank = vector[0];
  if (rank == unknown_extent)
    return partial_shape::unknown();
  if (rank > max_rank)
    return at.invalid("a tensor has at most ", max_rank, " axes, input ", i, " lists ", rank);
  return partial_shape::of_rank(static_cast<int>(rank));
}

result<partial_shape> listed_extents(const infer_context& at, int i) {
  if (auto values = at.integers(i))
    for (auto value : *values)
      if (value < 0)
        return at.invalid("extents must not be negative, got ", value);
  return listed_shape(at, i);
}

result<shape> fit_elements(std::span<const int64_t> listed, int64_t elements) {
  integer_list extents{listed.size()};
  std::ranges::copy(listed, extents.begin());
  auto* open = std::ranges::find(extents, unknown_extent);
  if (open != extents.end())
    *open = 1;
  TROUPE_ASSIGN(auto dims, shape::make(extents)); // fails for a second -1
  auto known_elements = dims.elements();
  if (open == extents.end() ? known_elements == elements
                            : known_elements > 0 && elements % known_elements == 0) {
    if (open != extents.end())
      dims.set(static_cast<int>(open - extents.begin()), elements / known_elements);
    return dims;
  }
  return invalid("cannot give ", elements, " elements the shape ",
                 partial_shape{std::vector(listed.begin(), listed.end())});
}

std::array<int64_t, max_rank> strides_of(const shape& dims) {
  std::array<int64_t, max_rank> strides{};
  int64_t stride = 1;
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= dims[axis];
  }
  return strides;
}

std::optional<std::vector<int64_t>> constant_integers(edge from) {
  auto* value = constant_value(from);
  if (!value)
    return std::nullopt;
  auto values = to_integers(*value);
  return std::vector(values.begin(), values.end());
}

} // namespace troupe::ops
