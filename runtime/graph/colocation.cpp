#include "troupe/runtime/graph/colocation.hpp"

#include <algorithm>

namespace troupe {

std::vector<std::string_view> colocated_with(const node& member) {
  std::vector<std::string_view> names;
  auto class_attr = member.attrs().find(colocation_attr);
  if (class_attr == member.attrs().end())
    return names;
  if (const auto* groups = class_attr->second.get_if<std::vector<std::string>>())
    for (std::string_view group : *groups)
      names.push_back(group.substr(colocation_prefix.size()));
  return names;
}

void add_colocation(attr_map& attrs, const std::vector<std::string>& names) {
  std::vector<std::string> groups;
  if (auto class_attr = attrs.find(colocation_attr); class_attr != attrs.end())
    if (const auto* listed = class_attr->second.get_if<std::vector<std::string>>())
      groups = *listed;
  for (const auto& name : names) {
    auto group = concat(colocation_prefix, name);
    if (std::ranges::find(groups, group) == groups.end())
      groups.push_back(std::move(group));
  }
  if (!groups.empty())
    attrs[std::string{colocation_attr}] = std::move(groups);
}

status check_colocation(const attr_value& value) {
  const auto* listed = value.get_if<std::vector<std::string>>();
  const auto* empty_list = value.get_if<std::vector<int64_t>>(); // [] is a list of any kind
  if (!listed && !(empty_list && empty_list->empty()))
    return invalid("attribute ", colocation_attr, " must list texts such as \"", colocation_prefix,
                   "v\"");
  if (listed)
    for (const auto& group : *listed)
      if (!group.starts_with(colocation_prefix) || group.size() == colocation_prefix.size())
        return invalid("attribute ", colocation_attr, " must list texts such as \"",
                       colocation_prefix, "v\", got \"", group, '"');
  return {};
}

} // namespace troupe
