#include "troupe/ops/queue/shared/queue_of.hpp"

#include <random>

namespace troupe::ops {
namespace {

queue_options options_of(const node& of, std::string name) {
  auto [types, shapes] = components_of(of);
  return {.name = std::move(name),
          .capacity = of.attr<int64_t>("capacity"),
          .types = std::move(types),
          .shapes = std::move(shapes)};
}

result<std::unique_ptr<responder>> made(queue_options options) {
  TROUPE_ASSIGN(auto queue, element_queue::make(std::move(options)));
  return std::unique_ptr<responder>{std::move(queue)};
}

} // namespace

result<std::unique_ptr<responder>> make_fifo_queue(const node& of, std::string name) {
  return made(options_of(of, std::move(name)));
}

result<std::unique_ptr<responder>> make_random_shuffle_queue(const node& of, std::string name) {
  auto options = options_of(of, std::move(name));
  options.order = queue_order::shuffled;
  options.min_after_dequeue = of.attr<int64_t>("min_after_dequeue");
  auto seed = static_cast<uint64_t>(of.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(of.attr<int64_t>("seed2"));
  options.declared_seed = seed != 0 || seed2 != 0;
  if (options.declared_seed) {
    options.seed = seed * 0x9e3779b97f4a7c15u ^ seed2; // two seeds, one number
  } else {
    std::random_device source;
    options.seed = uint64_t{source()} << 32 | source();
  }
  return made(std::move(options));
}

result<std::unique_ptr<responder>> make_padding_fifo_queue(const node& of, std::string name) {
  auto options = options_of(of, std::move(name));
  options.pads = true;
  return made(std::move(options));
}

result<std::unique_ptr<responder>> make_priority_queue(const node& of, std::string name) {
  auto options = options_of(of, std::move(name));
  options.order = queue_order::by_priority;
  return made(std::move(options));
}

queue_components components_of(const node& queue) {
  queue_components found{queue.attr<std::vector<dtype>>("component_types"),
                         queue.attr<std::vector<partial_shape>>("shapes")};
  if (queue.op().make_responder == make_priority_queue) {
    if (!found.shapes.empty() || found.types.empty())
      found.shapes.insert(found.shapes.begin(), shape{});
    found.types.insert(found.types.begin(), dtype::i64);
  }
  return found;
}

} // namespace troupe::ops
