#include "troupe/runtime/graph/gradient_context.hpp"

namespace troupe {

edge gradient_context::output_gradient(int i) {
  auto& gradient = output_gradients_[checked_index(i, "output", output_gradients_.size())];
  if (!gradient) {
    auto differentiated = output(i);
    gradient = node_.graph().add_or_record_error(
        {.op = "ZerosLike", .inputs = {differentiated}, .device = node_.device()});
  }
  return gradient;
}

edge gradient_context::op(std::string type, std::vector<edge> inputs, attr_map attrs, int output) {
  auto added = node_.graph().add_or_record_error(
      {.op = std::move(type), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  return added ? edge{added.node, output} : edge{};
}

edge gradient_context::constant(tensor value) {
  auto type = value.type();
  return node_.graph().add_or_record_error(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

edges gradient_context::fail(std::string_view reason) {
  node_.graph().record_error(failure(error_kind::unimplemented, reason));
  return edges(node_.inputs().size());
}

} // namespace troupe
