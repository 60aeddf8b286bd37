#include "troupe/ops/queue/shared/queue_of.hpp"

#include <random>

namespace troupe::ops {
namespace {

queue_options options_of(const node& queue_node, std::string name) {
  auto [types, shapes] = components_of(queue_node);
  return {.name = std::move(name),
          .capacity = queue_node.attr<int64_t>("capacity"),
          .types = std::move(types),
          .shapes = std::move(shapes)};
}

result<std::unique_ptr<waitable_resource>> make_queue(queue_options options) {
  TROUPE_ASSIGN(auto queue, element_queue::make(std::move(options)));
  return std::unique_ptr<waitable_resource>{std::move(queue)};
}

} // namespace

result<std::unique_ptr<waitable_resource>> make_fifo_queue(const node& queue_node,
                                                           std::string name) {
  return make_queue(options_of(queue_node, std::move(name)));
}

result<std::unique_ptr<waitable_resource>> make_random_shuffle_queue(const node& queue_node,
                                                                     std::string name) {
  auto options = options_of(queue_node, std::move(name));
  options.order = queue_order::shuffled;
  options.min_after_dequeue = queue_node.attr<int64_t>("min_after_dequeue");
  auto seed = static_cast<uint64_t>(queue_node.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(queue_node.attr<int64_t>("seed2"));
  options.declared_seed = seed != 0 || seed2 != 0;
  if (options.declared_seed) {
    options.seed = seed * 0x9e3779b97f4a7c15u ^ seed2; // combines the two seeds
  } else {
    std::random_device source;
    options.seed = uint64_t{source()} << 32 | source();
  }
  return make_queue(std::move(options));
}

result<std::unique_ptr<waitable_resource>> make_padding_fifo_queue(const node& queue_node,
                                                                   std::string name) {
  auto options = options_of(queue_node, std::move(name));
  options.pads = true;
  return make_queue(std::move(options));
}

result<std::unique_ptr<waitable_resource>> make_priority_queue(const node& queue_node,
                                                               std::string name) {
  auto options = options_of(queue_node, std::move(name));
  options.order = queue_order::by_priority;
  return make_queue(std::move(options));
}

queue_components components_of(const node& queue) {
  queue_components components{queue.attr<std::vector<dtype>>("component_types"),
                              queue.attr<std::vector<partial_shape>>("shapes")};
  if (queue.op().make_waitable_resource == make_priority_queue) {
    if (!components.shapes.empty() || components.types.empty())
      components.shapes.insert(components.shapes.begin(), shape{});
    components.types.insert(components.types.begin(), dtype::i64);
  }
  return components;
}

} // namespace troupe::ops
