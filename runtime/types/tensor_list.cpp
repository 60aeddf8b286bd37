#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <mutex>
#include <ostream>

namespace troupe {

status shared_object::keep(shared_object& other) {
  static std::mutex all; // this is rare
  std::lock_guard lock{all};
  if (this == &other || is_kept_ || other.keeps_)
    return failure(error_kind::unimplemented, description(), " cannot keep a handle of ",
                   other.description(),
                   ": what keeps handles is kept by nothing, and what is kept keeps none");
  keeps_ = other.is_kept_ = true;
  return {};
}

status tensor_list::admit(const tensor& item) {
  if (item.type() != dtype::variant)
    return {};
  for (const auto& inner : item.values<tensor_list>()) {
    depth_ = std::max(depth_, inner.depth_ + 1);
    has_inner_handles_ = has_inner_handles_ || inner.has_handles();
  }
  return depth_ <= max_list_depth ? status{}
                                  : failure(error_kind::resource_exhausted, "lists lie more than ",
                                            max_list_depth, " deep within lists");
}

bool tensor_list::operator==(const tensor_list& other) const noexcept {
  return type == other.type && object == other.object &&
         std::ranges::equal(items, other.items, identical);
}

namespace {

// Lists that had handles once look as if they still had.
const shared_object* find_handle(const tensor& in, int& looks_left) noexcept {
  if (in.type() != dtype::variant)
    return nullptr;
  for (const auto& one : in.values<tensor_list>()) {
    if (one.object)
      return one.object.get();
    if (!one.has_handles())
      continue;
    for (const auto& item : one.items) {
      if (looks_left-- <= 0)
        return nullptr;
      if (const auto* found = find_handle(item, looks_left))
        return found;
    }
  }
  return nullptr;
}

} // namespace

const shared_object* find_handle(const tensor& in) noexcept {
  int looks_left = 1 << 16;
  return find_handle(in, looks_left);
}

std::ostream& operator<<(std::ostream& out, const tensor_list& what) {
  if (what.object)
    return out << what.object->description();
  out << "list of " << what.items.size();
  if (what.type != dtype::none)
    out << ' ' << what.type << what.dims;
  return out;
}

} // namespace troupe
