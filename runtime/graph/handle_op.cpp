#include "troupe/runtime/graph/handle_op.hpp"

#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace troupe {
namespace {

bool all_refs(const port_list& ports) { return std::ranges::all_of(ports, &port::ref); }

std::string doc_of(const op_def& ref_op) {
  return concat(ref_op.doc.substr(0, ref_op.doc.find("\n\n")), "\n\nThe same as ", ref_op.name,
                " for a variable that is given by its handle",
                all_refs(ref_op.outputs) ? ", which it does not hand on." : ".");
}

// The op has no output, so a fetch of the op becomes a fetch of its first input in the same step.
std::string without_outputs(std::string_view text, std::string_view name) {
  std::map<std::string_view, std::string_view> variables; // by node
  std::string rewritten;
  while (!text.empty()) {
    auto line_end = std::min(text.find('\n'), text.size() - 1) + 1;
    auto line = text.substr(0, line_end);
    text.remove_prefix(line_end);
    auto call = concat(" = ", name, '(');
    if (auto position = line.find(call); position != line.npos) {
      auto arguments = line.substr(position + call.size());
      variables[line.substr(0, position)] = arguments.substr(0, arguments.find(','));
    }
    constexpr std::string_view fetch = "fetch ";
    if (line.starts_with(fetch)) {
      auto node = line.substr(fetch.size(), line.find(' ', fetch.size()) - fetch.size());
      if (auto variable = variables.find(node); variable != variables.end()) {
        rewritten += concat("target ", node, '\n', fetch, variable->second,
                            line.substr(fetch.size() + node.size()));
        continue;
      }
    }
    rewritten += line;
  }
  return rewritten;
}

std::string example_of(const op_def& ref_op) {
  auto text = replace_word(ref_op.example, ref_op.name, ref_op.by_handle.name);
  text = replace_word(text, "VariableV2", "VarHandleOp");
  text = replace_word(text, "Assign", "AssignVariableOp");
  return all_refs(ref_op.outputs) ? without_outputs(text, ref_op.by_handle.name) : text;
}

op_def definition(const op_def& ref_op, std::string_view doc, std::string_view example) {
  const auto& form = ref_op.by_handle;
  auto original_type = ref_op.inputs[0].type;
  auto type = form.untyped ? std::string_view{} : form.type.empty() ? original_type : form.type;
  auto convert = [&](port converted) {
    converted.type = converted.type == original_type ? type : converted.type;
    converted.handle = converted.ref;
    return converted;
  };
  auto handle_form_op = ref_op;
  handle_form_op.name = form.name;
  handle_form_op.second_name = {};
  handle_form_op.by_handle = {};
  handle_form_op.doc = doc;
  handle_form_op.example = example;
  handle_form_op.inputs = {};
  for (const auto& original : ref_op.inputs) {
    auto converted = convert(original);
    if (handle_form_op.inputs.empty() && !form.variable.empty())
      converted.name = form.variable;
    handle_form_op.inputs.push_back(converted);
  }
  handle_form_op.outputs = {};
  for (const auto& original : ref_op.outputs)
    if (!original.ref)
      handle_form_op.outputs.push_back(convert(original));
  handle_form_op.attrs = {};
  for (auto attr : ref_op.attrs) {
    if ((form.without_use_locking && attr.name == "use_locking") ||
        (form.untyped && attr.name == original_type))
      continue;
    attr.name = attr.name == original_type ? type : attr.name;
    handle_form_op.attrs.push_back(attr);
  }
  return handle_form_op;
}

} // namespace

std::string replace_word(std::string_view text, std::string_view from, std::string_view to) {
  auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string replaced;
  for (size_t position = 0; position < text.size();) {
    auto match = std::min(text.find(from, position), text.size());
    auto match_end = std::min(match + from.size(), text.size());
    auto is_whole_word = match < text.size() && (match == 0 || !in_word(text[match - 1])) &&
                         (match_end == text.size() || !in_word(text[match_end]));
    replaced.append(text.substr(position, match - position))
        .append(is_whole_word ? to : text.substr(match, match_end - match));
    position = match_end;
  }
  return replaced;
}

handle_op::handle_op(const op_def& ref_op)
    : doc(doc_of(ref_op)), example(example_of(ref_op)), op(definition(ref_op, doc, example)),
      original_type_(ref_op.inputs[0].type) {}

const kernel_def& handle_op::add(const kernel_def& original) {
  auto& kernel = kernels_.emplace_back(original);
  kernel.op = op.name;
  if (kernel.key == original_type_)
    kernel.key = op.inputs[0].type;
  return kernel;
}

} // namespace troupe
