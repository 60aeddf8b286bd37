#include "troupe/runtime/graph/fused_stages.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"

namespace troupe {

result<fused_stages> fused_stages::of(const node& fused) {
  auto malformed = [] { return invalid("its expression contradicts itself"); };
  const auto& names = fused.attr<std::vector<std::string>>("ops");
  const auto& types = fused.attr<std::vector<dtype>>("types");
  const auto& origins = fused.attr<std::vector<std::string>>("origins");
  const auto& operands = fused.attr<std::vector<int64_t>>("operands");
  fused_stages made;
  made.inputs = fused.inputs().size();
  if (names.empty() || names.size() > max_stages || made.inputs > max_inputs ||
      types.size() != names.size() || origins.size() != names.size())
    return malformed();
  std::vector<dtype> known;
  for (const auto& input : fused.inputs())
    known.push_back(input.type());
  size_t next = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    TROUPE_ASSIGN(auto* op, fused.graph().ops().find_op(names[i]));
    if (op->inputs.empty() || op->inputs.size() > 2 || op->outputs.empty())
      return malformed();
    auto named = dtype_from(op->outputs[0].type), taken = dtype_from(op->inputs[0].type);
    if (taken && *taken != types[i])
      return malformed();
    fused_stage added{.op = op,
                      .operand_type = types[i],
                      .type = named ? *named : types[i],
                      .arity = op->inputs.size(),
                      .origin = origins[i]};
    if (operands.size() - next < added.arity)
      return malformed();
    for (size_t k = 0; k < added.arity; ++k) {
      auto which = static_cast<size_t>(operands[next++]);
      if (which >= known.size() || known[which] != types[i])
        return malformed();
      added.operands[k] = which;
    }
    known.push_back(added.type);
    made.all.push_back(std::move(added));
  }
  if (next != operands.size() || known.back() != fused.output_type(0))
    return malformed();
  return made;
}

status fused_stages::find_shapes(const kernel_context& at, shapes& found) const {
  auto of = [&](size_t value) -> const shape& {
    return value < inputs ? at.input(static_cast<int>(value)).dims() : *found.of[value - inputs];
  };
  for (size_t s = 0; s < all.size(); ++s) {
    const auto& stage = all[s];
    const auto& a = of(stage.operands[0]);
    found.of[s] = &a;
    if (stage.arity == 1 || a == of(stage.operands[1]))
      continue;
    const auto& b = of(stage.operands[1]);
    if (!has(stage.op->effects, effect::broadcasting))
      return invalid(stage.origin, ": shapes ", a, " and ", b, " must be equal");
    auto joint = broadcast(a, b);
    if (!joint)
      return joint.status().within(stage.origin);
    if (*joint == b) {
      found.of[s] = &b;
    } else if (!(*joint == a)) {
      found.joint.reserve(all.size()); // so that what was found stays where it is
      found.of[s] = &found.joint.emplace_back(*joint);
    }
  }
  return {};
}

} // namespace troupe
