#include "troupe/runtime/program/held_tensors.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace troupe {
namespace {

size_t bytes_in(const tensor& value, list_budget& left) {
  if (value.type() != dtype::variant)
    return value.bytes();
  size_t sum = 0;
  for (const auto& list : value.values<tensor_list>())
    for (const auto& item : list.items)
      if (left.count_item())
        sum += bytes_in(item, left);
  return sum;
}

std::string kind_of(const tensor& value) {
  std::ostringstream text;
  if (value.type() == dtype::variant && value.rank() == 0)
    text << *value.data<tensor_list>();
  else
    text << value.type() << value.dims();
  return std::move(text).str();
}

} // namespace

std::string describe_largest(std::vector<held_tensor> held, size_t max_count,
                             std::string_view heading) {
  // A tensor in several slots counts once. Does not sort by address: the same error must read the
  // same each time.
  std::set<const void*> seen;
  std::erase_if(held, [&](const auto& entry) { return !seen.insert(entry.value.raw()).second; });
  std::vector<std::pair<size_t, const held_tensor*>> sizes;
  list_budget left;
  for (const auto& entry : held)
    sizes.emplace_back(bytes_in(entry.value, left), &entry);
  std::ranges::stable_sort(sizes, std::ranges::greater{},
                           [](const auto& entry) { return entry.first; });
  if (sizes.size() > max_count)
    sizes.resize(max_count);
  std::string text;
  for (const auto& [bytes, entry] : sizes)
    text += concat(text.empty() ? "; " : "", text.empty() ? heading : "",
                   text.empty() ? ": " : ", ", bytes, " bytes, ", kind_of(entry->value), " of ",
                   entry->enclosing_calls, entry->origin->description());
  return text;
}

void add_enclosing_call(std::vector<held_tensor>& held, size_t first, const std::string& call) {
  for (auto i = first; i < held.size(); ++i)
    held[i].enclosing_calls.insert(0, call + ' ');
}

} // namespace troupe
