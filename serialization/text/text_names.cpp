#include "troupe/serialization/text/text_names.hpp"

namespace troupe {

result<node*> text_names::find(std::string_view name) const {
  std::vector<std::string_view> known;
  for (auto level = levels_.rbegin();; ++level) {
    // The nodes of arguments have names that no text knows.
    if (auto* found = level->nodes->find(name); found && !is_argument(*found))
      return found;
    if (auto it = level->arguments.find(name); it != level->arguments.end())
      return it->second.node;
    for (const auto& [argument, made] : level->arguments)
      known.push_back(argument);
    for (const auto& each : level->nodes->nodes())
      if (!is_argument(*each))
        known.push_back(each->name());
    if (level->is_closed)
      return failure(error_kind::not_found, "there is no node '", name, "'",
                     did_you_mean(name, known));
  }
}

} // namespace troupe
