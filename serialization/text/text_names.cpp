#include "troupe/serialization/text/text_names.hpp"

namespace troupe {

result<node*> text_names::find(std::string_view name) const {
  std::vector<std::string_view> known;
  for (auto level = levels_.rbegin();; ++level) {
    // The nodes of arguments have generated names, which a text does not use.
    if (auto* named_node = level->nodes->find(name); named_node && !is_argument(*named_node))
      return named_node;
    if (auto argument_entry = level->arguments.find(name); argument_entry != level->arguments.end())
      return argument_entry->second.node;
    for (const auto& [argument, argument_edge] : level->arguments)
      known.push_back(argument);
    for (const auto& known_node : level->nodes->nodes())
      if (!is_argument(*known_node))
        known.push_back(known_node->name());
    if (level->is_closed)
      return failure(error_kind::not_found, "there is no node '", name, "'",
                     did_you_mean(name, known));
  }
}

} // namespace troupe
