#include "troupe/serialization/wire/origin.hpp"

namespace troupe {

// TODO(cleanup): a node knows this text, but tells it only within its description.
std::string origin_of(const node& of) {
  auto text = of.description();
  auto begin = concat(of.op().name, " '", of.name(), "' (").size();
  return begin < text.size() ? text.substr(begin, text.size() - begin - 1) : to_string(of.where());
}

result<node*> add_with_origin(graph& to, node_spec spec, std::string origin) {
  auto here = concat('(', to_string(spec.where), ')');
  auto added = to.add(std::move(spec));
  if (origin.empty())
    return added;
  if (added) {
    to.set_origin(**added, std::move(origin));
    return added;
  }
  auto text = added.status().message();
  if (auto at = text.find(here); at != text.npos)
    text.replace(at, here.size(), concat('(', origin, ')'));
  return status{added.status().kind(), std::move(text)};
}

} // namespace troupe
