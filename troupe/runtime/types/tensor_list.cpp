#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <ostream>

namespace troupe {

status tensor_list::admit(const tensor& item) {
  if (item.type() != dtype::variant)
    return {};
  for (const auto& inner : item.values<tensor_list>())
    depth_ = std::max(depth_, inner.depth_ + 1);
  return depth_ <= max_list_depth ? status{}
                                  : failure(error_kind::resource_exhausted, "lists lie more than ",
                                            max_list_depth, " deep within lists");
}

bool tensor_list::operator==(const tensor_list& other) const noexcept {
  return type == other.type && std::ranges::equal(items, other.items, identical);
}

std::ostream& operator<<(std::ostream& out, const tensor_list& what) {
  out << "list of " << what.items.size();
  if (what.type != dtype::none)
    out << ' ' << what.type << what.dims;
  return out;
}

} // namespace troupe
