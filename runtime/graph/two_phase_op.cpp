#include "troupe/runtime/graph/two_phase_op.hpp"

#include "troupe/runtime/graph/infer.hpp"

namespace troupe {
namespace {

constexpr std::string_view first_prefix = "_Size", second_prefix = "_Emit";
constexpr std::string_view no_gradient = "it is part of a partition, not of a user's graph";

result<shapes> infer_counts(const infer_context&) {
  return shapes{{unknown_extent}, partial_shape::unknown()};
}

result<shapes> infer_from_attr(const infer_context& at) {
  return at.attr<std::vector<partial_shape>>("output_shapes");
}

op_def first_half(const op_def& original, std::string_view name) {
  auto half = original;
  half.name = name;
  half.doc = "Counts the output elements of the op of which it is the first phase.";
  half.outputs = {{"counts", "i64"}, {"kept", "i64"}};
  half.effects = effect::none;
  half.infer = infer_counts;
  half.gradient = nullptr;
  half.no_gradient = no_gradient;
  half.simplify = nullptr;
  half.example = {};
  return half;
}

op_def second_half(const op_def& original, std::string_view name) {
  auto half = first_half(original, name);
  half.doc = "Computes the outputs of the op of which it is the second phase.";
  half.inputs.push_back({"kept", "i64"});
  half.inputs.push_back(on_host("counts", "i64"));
  half.outputs = original.outputs;
  half.attrs.push_back({"output_shapes", attr_kind::shapes});
  half.infer = infer_from_attr;
  return half;
}

} // namespace

two_phase_op::two_phase_op(const op_def& original)
    : first_name(name_of_first(original.name)), second_name(name_of_second(original.name)),
      first(first_half(original, first_name)), second(second_half(original, second_name)) {}

std::string two_phase_op::name_of_first(std::string_view op) { return concat(first_prefix, op); }
std::string two_phase_op::name_of_second(std::string_view op) { return concat(second_prefix, op); }

bool is_first_phase(const op_def& candidate) noexcept { return candidate.infer == infer_counts; }

std::string_view original_op_name(std::string_view op) noexcept {
  for (auto prefix : {second_prefix, first_prefix})
    if (op.starts_with(prefix))
      return op.substr(prefix.size());
  return op;
}

} // namespace troupe
