// What queue ops know of their queue while the graph is built.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// One declared shape for each component; unknown ones where the queue declares none, or is not
/// known.
struct queue_components {
  std::vector<dtype> types;
  shapes dims;
};

/// Checks that the queue behind input 0 holds elements of these types.
inline result<queue_components> components_of(const infer_context& at, std::vector<dtype> types) {
  queue_components found{std::move(types), {}};
  found.dims.resize(found.types.size());
  auto* queue = at.resource(0);
  if (!queue || queue->op().makes != resource::queue)
    return found;
  const auto& held = queue->attr<std::vector<dtype>>("component_types");
  if (held.size() != found.types.size())
    return at.invalid("queue '", queue->name(), "' holds elements of ", held.size(),
                      " components, not ", found.types.size());
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i] != found.types[i])
      return at.invalid("component ", i, " of queue '", queue->name(), "' is ", held[i], ", not ",
                        found.types[i]);
  if (const auto& dims = queue->attr<shapes>("shapes"); dims.size() == found.dims.size())
    found.dims = dims;
  return found;
}

/// The types of the inputs after the handle.
inline std::vector<dtype> enqueued_types(const infer_context& at) {
  std::vector<dtype> types;
  for (int i = 1; i < at.inputs(); ++i)
    types.push_back(at.input_type(i));
  return types;
}

/// The types of all outputs.
inline std::vector<dtype> dequeued_types(const infer_context& at) {
  std::vector<dtype> types;
  for (int i = 0; i < at.outputs(); ++i)
    types.push_back(at.output_type(i));
  return types;
}

/// A batch of elements of this shape: one more axis in front.
inline partial_shape batch_of(int64_t size, const partial_shape& dims) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{size};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  return partial_shape{std::move(extents)};
}

} // namespace troupe::ops
