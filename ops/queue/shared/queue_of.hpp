// The declarations of queue nodes, as resources and as components.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/state/element_queue.hpp"

namespace troupe::ops {

/// Make the resource of a queue node; op_def::make_waitable_resource of these ops.
result<std::unique_ptr<waitable_resource>> make_fifo_queue(const node& queue_node,
                                                           std::string name);
result<std::unique_ptr<waitable_resource>> make_random_shuffle_queue(const node& queue_node,
                                                                     std::string name);
result<std::unique_ptr<waitable_resource>> make_padding_fifo_queue(const node& queue_node,
                                                                   std::string name);
result<std::unique_ptr<waitable_resource>> make_priority_queue(const node& queue_node,
                                                               std::string name);

/// The components of a queue's elements, including the priority of a PriorityQueue.
struct queue_components {
  std::vector<dtype> types;
  std::vector<partial_shape> shapes; ///< one per component, or empty
};
queue_components components_of(const node& queue);

inline element_queue& as_queue(waitable_resource& resource) {
  return static_cast<element_queue&>(resource);
}

} // namespace troupe::ops
