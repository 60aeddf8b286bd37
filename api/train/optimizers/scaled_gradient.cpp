#include "troupe/api/train/optimizers/scaled_gradient.hpp"

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"

namespace troupe {

edge scaled_gradient(edge gradient, edge factor, std::source_location where) {
  const auto& producer = *gradient.node;
  auto& in = producer.graph();
  in.push_device(producer.device());
  graph_scope on{in, graph_scope::kind::device};
  if (slices_of(gradient)) {
    if (producer.op().name == "AddN") {
      std::vector<edge> parts;
      for (const auto& input : producer.inputs())
        parts.push_back(scaled_gradient(input, factor, where));
      return add_n(parts, {}, where);
    }
    return unsorted_segment_sum(scaled_gradient(producer.inputs()[0], factor, where),
                                producer.inputs()[1], producer.inputs()[2], {}, where);
  }
  return mul(gradient, cast(factor, gradient.type(), {}, where), {}, where);
}

} // namespace troupe
