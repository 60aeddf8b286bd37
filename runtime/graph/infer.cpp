#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe {

integer_list to_integers(const tensor& values) {
  auto is_list = values.type() == dtype::i32 || values.type() == dtype::i64;
  integer_list integers(is_list ? static_cast<size_t>(values.elements()) : 0);
  if (values.type() == dtype::i32)
    std::ranges::copy(values.values<int32_t>(), integers.data());
  else if (is_list)
    std::ranges::copy(values.values<int64_t>(), integers.data());
  return integers;
}

std::optional<std::vector<int64_t>> infer_context::integers(int i) const {
  auto* value = constant(i);
  if (!value || (value->type() != dtype::i32 && value->type() != dtype::i64))
    return std::nullopt;
  auto values = to_integers(*value);
  return std::vector(values.begin(), values.end());
}

result<partial_shape> infer_context::of_rank(int i, int rank) const {
  const auto& dims = input(i);
  if (!dims.has_rank())
    return partial_shape::of_rank(rank);
  if (dims.rank() != rank)
    return troupe::invalid("input ", i, " must have ", rank, " axes, got shape ", dims, " from '",
                           edge_of(i), "'");
  return dims;
}

namespace infer {

result<shapes> same_as_input(const infer_context& at) { return shapes{at.input(0)}; }

result<shapes> broadcast_inputs(const infer_context& at) {
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), at.input(1)));
  return shapes{std::move(joint)};
}

result<shapes> scalar(const infer_context&) { return shapes{shape{}}; }

result<shapes> nothing(const infer_context&) { return shapes{}; }

result<shapes> shape_attr(const infer_context& at) {
  return shapes{at.attr<partial_shape>("shape")};
}

} // namespace infer
} // namespace troupe
