#include "troupe/serialization/graph_def/input_name.hpp"

namespace troupe::graph_def {

result<input_name> input_name::parse(std::string_view text) {
  if (text.starts_with('^'))
    return input_name{text.substr(1), 0, true};
  input_name parsed{text};
  if (auto colon = text.rfind(':'); colon != text.npos) {
    if (!read_number(text.substr(colon + 1), parsed.output))
      return invalid("'", text, "' is not an input: write node, node:1 or ^node");
    parsed.node = text.substr(0, colon);
  }
  return parsed;
}

} // namespace troupe::graph_def
