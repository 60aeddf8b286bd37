#include "troupe/serialization/wire/origin.hpp"

namespace troupe {

// TODO(cleanup): a node stores this text, but returns it only within its description.
std::string origin_of(const node& described) {
  auto text = described.description();
  auto begin = concat(described.op().name, " '", described.name(), "' (").size();
  return begin < text.size() ? text.substr(begin, text.size() - begin - 1)
                             : to_string(described.where());
}

result<node*> add_with_origin(graph& to, node_spec spec, std::string origin) {
  auto own_location = concat('(', to_string(spec.where), ')');
  auto added = to.add(std::move(spec));
  if (origin.empty())
    return added;
  if (added) {
    to.set_origin(**added, std::move(origin));
    return added;
  }
  auto text = added.status().message();
  if (auto offset = text.find(own_location); offset != text.npos)
    text.replace(offset, own_location.size(), concat('(', origin, ')'));
  return status{added.status().kind(), std::move(text)};
}

} // namespace troupe
