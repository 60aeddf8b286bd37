// Converts names of ops and attributes to C++ names.
#include "troupe/api/generate/builders.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace troupe::generate {
namespace {

bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }

// Names that are clearer than the rule's result, or that avoid collisions with other functions.
const std::map<std::string_view, std::string_view> exceptions{
    {"MatMul", "matmul"},        {"BatchMatMul", "batch_matmul"}, {"SparseMatMul", "sparse_matmul"},
    {"Shape", "shape_of"},       {"ShapeN", "shapes_of"},         {"Size", "size_of"},
    {"Rank", "rank_of"},         {"ConcatV2", "concatenate"},     {"Stack", "new_stack"},
    {"StackV2", "new_stack_v2"},
};

// Ops with a method of graph_builder instead; Concat is replaced by ConcatV2.
constexpr std::array by_hand{"Const",      "Placeholder", "Variable",
                             "VariableV2", "VarHandleOp", "Concat"};

// Keywords, and macros and functions of C that a function must not be named after.
constexpr std::array reserved{
    "abort",   "and",      "assert",   "auto",     "bool",   "break",   "case",   "catch",
    "char",    "class",    "const",    "default",  "delete", "do",      "double", "else",
    "enum",    "exit",     "explicit", "export",   "false",  "float",   "for",    "friend",
    "goto",    "if",       "inline",   "int",      "long",   "new",     "not",    "operator",
    "or",      "private",  "public",   "register", "return", "short",   "signed", "sizeof",
    "static",  "struct",   "switch",   "template", "this",   "throw",   "true",   "try",
    "typedef", "typename", "union",    "unsigned", "using",  "virtual", "void",   "volatile",
    "while",   "xor"};

} // namespace

bool has_builder(const op_def& op) {
  // Ops that call functions have builders in api/control_flow.hpp.
  return !op.name.starts_with('_') && op.calls == call_kind::never &&
         std::ranges::find(by_hand, op.name) == by_hand.end();
}

std::string builder_name(std::string_view op) {
  if (auto exception = exceptions.find(op); exception != exceptions.end())
    return std::string{exception->second};
  std::string name;
  for (size_t i = 0; i < op.size(); ++i) {
    auto dimension = op[i] == 'D' && i > 0 && op[i - 1] >= '0' && op[i - 1] <= '9'; // Conv2D
    auto next_lower = i + 1 < op.size() && lower(op[i + 1]);
    if (upper(op[i]) && !dimension && i > 0 && op[i - 1] != '_' &&
        (!upper(op[i - 1]) || next_lower))
      name += '_';
    name += upper(op[i]) ? static_cast<char>(op[i] - 'A' + 'a') : op[i];
  }
  if (std::ranges::find(reserved, name) != reserved.end())
    name += '_';
  return name;
}

std::string wrapped(std::string_view text, std::string_view prefix) {
  constexpr size_t columns = 100;
  std::string out, line;
  auto flush = [&] {
    out += line.empty() ? std::string{prefix.substr(0, prefix.find_last_not_of(' ') + 1)}
                        : std::string{prefix} + line;
    out += '\n';
    line.clear();
  };
  while (!text.empty()) {
    auto end = std::min(text.find('\n'), text.size());
    auto paragraph = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!paragraph.empty()) {
      auto stop = std::min(paragraph.find(' '), paragraph.size());
      auto word = paragraph.substr(0, stop);
      paragraph.remove_prefix(std::min(stop + 1, paragraph.size()));
      if (!line.empty() && prefix.size() + line.size() + 1 + word.size() > columns)
        flush();
      if (!line.empty())
        line += ' ';
      line += word;
    }
    flush();
  }
  return out;
}

} // namespace troupe::generate
