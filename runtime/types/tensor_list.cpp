#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <mutex>
#include <ostream>

namespace troupe {

status shared_object::keep(shared_object& other) {
  static std::mutex mutex; // this is rare
  std::lock_guard lock{mutex};
  if (this == &other || is_kept_ || other.keeps_)
    return failure(error_kind::unimplemented, description(), " cannot keep a handle of ",
                   other.description(), ": an object that keeps handles cannot be kept itself");
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
                                  : failure(error_kind::resource_exhausted,
                                            "lists are nested more than ", max_list_depth, " deep");
}

bool tensor_list::operator==(const tensor_list& other) const noexcept {
  return type == other.type && object == other.object &&
         std::ranges::equal(items, other.items, identical);
}

namespace {

// A list keeps has_handles() after its handles are removed, so the search may find none.
const shared_object* find_handle(const tensor& elements, int& remaining_visits) noexcept {
  if (elements.type() != dtype::variant)
    return nullptr;
  for (const auto& list : elements.values<tensor_list>()) {
    if (list.object)
      return list.object.get();
    if (!list.has_handles())
      continue;
    for (const auto& item : list.items) {
      if (remaining_visits-- <= 0)
        return nullptr;
      if (const auto* handle = find_handle(item, remaining_visits))
        return handle;
    }
  }
  return nullptr;
}

} // namespace

const shared_object* find_handle(const tensor& elements) noexcept {
  int remaining_visits = 1 << 16;
  return find_handle(elements, remaining_visits);
}

std::ostream& operator<<(std::ostream& out, const tensor_list& list) {
  if (list.object)
    return out << list.object->description();
  out << "list of " << list.items.size();
  if (list.type != dtype::none)
    out << ' ' << list.type << list.dims;
  return out;
}

} // namespace troupe
