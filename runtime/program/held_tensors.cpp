#include "troupe/runtime/program/held_tensors.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace troupe {
namespace {

size_t bytes_in(const tensor& of, list_budget& left) {
  if (of.type() != dtype::variant)
    return of.bytes();
  size_t sum = 0;
  for (const auto& each : of.values<tensor_list>())
    for (const auto& item : each.items)
      if (left.take())
        sum += bytes_in(item, left);
  return sum;
}

std::string kind_of(const tensor& one) {
  std::ostringstream text;
  if (one.type() == dtype::variant && one.rank() == 0)
    text << *one.data<tensor_list>();
  else
    text << one.type() << one.dims();
  return std::move(text).str();
}

} // namespace

std::string describe_largest(std::vector<held_tensor> held, size_t most, std::string_view whose) {
  // What stands in several slots counts once. Addresses order nothing: an error reads the same each
  // time.
  std::set<const void*> seen;
  std::erase_if(held, [&](const auto& one) { return !seen.insert(one.value.raw()).second; });
  std::vector<std::pair<size_t, const held_tensor*>> sizes;
  list_budget left;
  for (const auto& one : held)
    sizes.emplace_back(bytes_in(one.value, left), &one);
  std::ranges::stable_sort(sizes, std::ranges::greater{},
                           [](const auto& one) { return one.first; });
  if (sizes.size() > most)
    sizes.resize(most);
  std::string text;
  for (const auto& [bytes, one] : sizes)
    text += concat(text.empty() ? "; " : "", text.empty() ? whose : "", text.empty() ? ": " : ", ",
                   bytes, " bytes, ", kind_of(one->value), " of ", one->nest,
                   one->made_by->description());
  return text;
}

void put_around(std::vector<held_tensor>& held, size_t first, const std::string& call) {
  for (auto i = first; i < held.size(); ++i)
    held[i].nest.insert(0, call + ' ');
}

} // namespace troupe
