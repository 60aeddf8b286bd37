#include "troupe/runtime/graph/colocation.hpp"

#include <algorithm>

namespace troupe {

std::vector<std::string_view> colocated_with(const node& which) {
  std::vector<std::string_view> names;
  auto it = which.attrs().find(colocation_attr);
  if (it == which.attrs().end())
    return names;
  if (const auto* listed = it->second.get_if<std::vector<std::string>>())
    for (std::string_view one : *listed)
      names.push_back(one.substr(colocation_prefix.size()));
  return names;
}

void add_colocation(attr_map& to, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  if (auto it = to.find(colocation_attr); it != to.end())
    if (const auto* listed = it->second.get_if<std::vector<std::string>>())
      all = *listed;
  for (const auto& name : names) {
    auto group = concat(colocation_prefix, name);
    if (std::ranges::find(all, group) == all.end())
      all.push_back(std::move(group));
  }
  if (!all.empty())
    to[std::string{colocation_attr}] = std::move(all);
}

status check_colocation(const attr_value& value) {
  const auto* listed = value.get_if<std::vector<std::string>>();
  const auto* nothing = value.get_if<std::vector<int64_t>>(); // [] is a list of any kind
  if (!listed && !(nothing && nothing->empty()))
    return invalid("attribute ", colocation_attr, " must list texts such as \"", colocation_prefix,
                   "v\"");
  if (listed)
    for (const auto& one : *listed)
      if (!one.starts_with(colocation_prefix) || one.size() == colocation_prefix.size())
        return invalid("attribute ", colocation_attr, " must list texts such as \"",
                       colocation_prefix, "v\", got \"", one, '"');
  return {};
}

} // namespace troupe
