#include "troupe/runtime/graph/handle_op.hpp"

#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace troupe {
namespace {

bool all_refs(const port_list& ports) { return std::ranges::all_of(ports, &port::ref); }

std::string doc_of(const op_def& of) {
  return concat(of.doc.substr(0, of.doc.find("\n\n")), "\n\nThe same as ", of.name,
                " for a variable that is given by its handle",
                all_refs(of.outputs) ? ", which it does not hand on." : ".");
}

// The op hands nothing on: what was fetched from it is fetched from its first input, in the same
// step.
std::string without_outputs(std::string_view text, std::string_view name) {
  std::map<std::string_view, std::string_view> variables; // by node
  std::string out;
  while (!text.empty()) {
    auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    auto line = text.substr(0, end);
    text.remove_prefix(end);
    auto call = concat(" = ", name, '(');
    if (auto at = line.find(call); at != line.npos) {
      auto rest = line.substr(at + call.size());
      variables[line.substr(0, at)] = rest.substr(0, rest.find(','));
    }
    constexpr std::string_view fetch = "fetch ";
    if (line.starts_with(fetch)) {
      auto node = line.substr(fetch.size(), line.find(' ', fetch.size()) - fetch.size());
      if (auto it = variables.find(node); it != variables.end()) {
        out += concat("target ", node, '\n', fetch, it->second,
                      line.substr(fetch.size() + node.size()));
        continue;
      }
    }
    out += line;
  }
  return out;
}

std::string example_of(const op_def& of) {
  auto text = with_word(of.example, of.name, of.by_handle.name);
  text = with_word(text, "VariableV2", "VarHandleOp");
  text = with_word(text, "Assign", "AssignVariableOp");
  return all_refs(of.outputs) ? without_outputs(text, of.by_handle.name) : text;
}

op_def definition(const op_def& of, std::string_view doc, std::string_view example) {
  const auto& form = of.by_handle;
  auto before = of.inputs[0].type;
  auto type = form.untyped ? std::string_view{} : form.type.empty() ? before : form.type;
  auto changed = [&](port at) {
    at.type = at.type == before ? type : at.type;
    at.handle = at.ref;
    return at;
  };
  auto made = of;
  made.name = form.name;
  made.also = {};
  made.by_handle = {};
  made.doc = doc;
  made.example = example;
  made.inputs = {};
  for (const auto& at : of.inputs) {
    auto port = changed(at);
    if (made.inputs.empty() && !form.variable.empty())
      port.name = form.variable;
    made.inputs.push_back(port);
  }
  made.outputs = {};
  for (const auto& at : of.outputs)
    if (!at.ref)
      made.outputs.push_back(changed(at));
  made.attrs = {};
  for (auto attr : of.attrs) {
    if ((form.locks && attr.name == "use_locking") || (form.untyped && attr.name == before))
      continue;
    attr.name = attr.name == before ? type : attr.name;
    made.attrs.push_back(attr);
  }
  return made;
}

} // namespace

std::string with_word(std::string_view text, std::string_view from, std::string_view to) {
  auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    auto found = std::min(text.find(from, at), text.size());
    auto end = std::min(found + from.size(), text.size());
    auto whole = found < text.size() && (found == 0 || !in_word(text[found - 1])) &&
                 (end == text.size() || !in_word(text[end]));
    out.append(text.substr(at, found - at)).append(whole ? to : text.substr(found, end - found));
    at = end;
  }
  return out;
}

handle_op::handle_op(const op_def& of)
    : doc(doc_of(of)), example(example_of(of)), op(definition(of, doc, example)),
      type_before_(of.inputs[0].type) {}

const kernel_def& handle_op::add(const kernel_def& like) {
  auto& made = kernels_.emplace_back(like);
  made.op = op.name;
  if (made.key == type_before_)
    made.key = op.inputs[0].type;
  return made;
}

} // namespace troupe
