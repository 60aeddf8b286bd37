#include "troupe/runtime/graph/gradient_context.hpp"

namespace troupe {

edge gradient_context::output_gradient(int i) {
  auto& given = output_gradients_[place(i, "output", output_gradients_.size())];
  if (!given) {
    auto of = output(i);
    given =
        node_.graph().add_or_note({.op = "ZerosLike", .inputs = {of}, .device = node_.device()});
  }
  return given;
}

edge gradient_context::op(std::string type, std::vector<edge> inputs, attr_map attrs, int output) {
  auto made = node_.graph().add_or_note(
      {.op = std::move(type), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  return made ? edge{made.node, output} : edge{};
}

edge gradient_context::constant(tensor value) {
  auto type = value.type();
  return node_.graph().add_or_note(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

edges gradient_context::fail(std::string_view why) {
  node_.graph().note(failure(error_kind::unimplemented, why));
  return edges(node_.inputs().size());
}

} // namespace troupe
