#include "troupe/runtime/graph/fused_stages.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"

namespace troupe {

result<fused_stages> fused_stages::decode(const node& fused) {
  auto malformed = [] { return invalid("its attributes are inconsistent"); };
  const auto& names = fused.attr<std::vector<std::string>>("ops");
  const auto& types = fused.attr<std::vector<dtype>>("types");
  const auto& origins = fused.attr<std::vector<std::string>>("origins");
  const auto& operands = fused.attr<std::vector<int64_t>>("operands");
  fused_stages decoded;
  decoded.inputs = fused.inputs().size();
  if (names.empty() || names.size() > max_stages || decoded.inputs > max_inputs ||
      types.size() != names.size() || origins.size() != names.size())
    return malformed();
  std::vector<dtype> types_of_values;
  for (const auto& input : fused.inputs())
    types_of_values.push_back(input.type());
  size_t next_operand = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    TROUPE_ASSIGN(auto* op, fused.graph().ops().find_op(names[i]));
    if (op->inputs.empty() || op->inputs.size() > 2 || op->outputs.empty())
      return malformed();
    auto result_type = dtype_from(op->outputs[0].type),
         operand_type = dtype_from(op->inputs[0].type);
    if (operand_type && *operand_type != types[i])
      return malformed();
    fused_stage added{.op = op,
                      .operand_type = types[i],
                      .type = result_type ? *result_type : types[i],
                      .arity = op->inputs.size(),
                      .origin = origins[i]};
    if (operands.size() - next_operand < added.arity)
      return malformed();
    for (size_t k = 0; k < added.arity; ++k) {
      auto operand = static_cast<size_t>(operands[next_operand++]);
      if (operand >= types_of_values.size() || types_of_values[operand] != types[i])
        return malformed();
      added.operands[k] = operand;
    }
    types_of_values.push_back(added.type);
    decoded.stages.push_back(std::move(added));
  }
  if (next_operand != operands.size() || types_of_values.back() != fused.output_type(0))
    return malformed();
  return decoded;
}

status fused_stages::find_shapes(const kernel_context& at, shapes& results) const {
  auto shape_of = [&](size_t value) -> const shape& {
    return value < inputs ? at.input(static_cast<int>(value)).dims()
                          : *results.by_stage[value - inputs];
  };
  for (size_t s = 0; s < stages.size(); ++s) {
    const auto& stage = stages[s];
    const auto& a = shape_of(stage.operands[0]);
    results.by_stage[s] = &a;
    if (stage.arity == 1 || a == shape_of(stage.operands[1]))
      continue;
    const auto& b = shape_of(stage.operands[1]);
    if (!has(stage.op->effects, effect::broadcasting))
      return invalid(stage.origin, ": shapes ", a, " and ", b, " must be equal");
    auto joint = broadcast(a, b);
    if (!joint)
      return joint.status().with_context(stage.origin);
    if (*joint == b) {
      results.by_stage[s] = &b;
    } else if (!(*joint == a)) {
      results.storage.reserve(stages.size()); // keeps pointers to its elements valid
      results.by_stage[s] = &results.storage.emplace_back(*joint);
    }
  }
  return {};
}

} // namespace troupe
