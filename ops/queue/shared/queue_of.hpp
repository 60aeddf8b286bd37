// What the nodes that stand for queues declare.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/state/element_queue.hpp"

namespace troupe::ops {

/// What an op of queues stands for; op_def::make_responder of each of them.
result<std::unique_ptr<responder>> make_fifo_queue(const node& of, std::string name);
result<std::unique_ptr<responder>> make_random_shuffle_queue(const node& of, std::string name);
result<std::unique_ptr<responder>> make_padding_fifo_queue(const node& of, std::string name);
result<std::unique_ptr<responder>> make_priority_queue(const node& of, std::string name);

/// The components of a queue's elements, the priority of a PriorityQueue included.
struct queue_components {
  std::vector<dtype> types;
  std::vector<partial_shape> shapes; ///< one for each, or none at all
};
queue_components components_of(const node& queue);

inline element_queue& as_queue(responder& of) { return static_cast<element_queue&>(of); }

} // namespace troupe::ops
