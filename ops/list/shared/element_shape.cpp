#include "troupe/ops/list/shared/element_shape.hpp"

namespace troupe::ops {

result<partial_shape> listed_element_shape(const infer_context& at, int i) {
  const auto& dims = at.input(i);
  if (dims.has_rank() && dims.rank() > 1)
    return at.invalid("element_shape must be a vector or the scalar -1, got shape ", dims);
  if (!dims.has_rank() || dims.rank() == 0)
    return partial_shape::unknown();
  if (auto values = at.integers(i))
    return partial_shape::make(*values);
  const auto& source = *at.source(i).node;
  return source.op().name == "Shape" ? source.inputs()[0].dims() : partial_shape::unknown();
}

edge element_shape_of(edge item) {
  if (!item || !item.dims().fully_known())
    return build("Shape", {item}, {{"out_type", dtype::i32}});
  auto extents = item.dims().extents();
  return constant_like(item, tensor::vector(std::vector<int32_t>(extents.begin(), extents.end())));
}

} // namespace troupe::ops
