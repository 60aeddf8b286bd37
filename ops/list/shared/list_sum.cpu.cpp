#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
void add_elements(const tensor& from, const tensor& to) {
  for (int64_t i = 0; i < to.elements(); ++i) {
    auto& sum = to.data<T>()[i];
    sum = static_cast<T>(wrapping(std::plus<>{}, compute_type<T>{widen(sum)},
                                  compute_type<T>{widen(from.data<T>()[i])}));
  }
}

template <class... Ts>
void add_numbers(type_list<Ts...>, const tensor& from, const tensor& to) {
  ((to.type() == dtype_of<Ts> ? add_elements<Ts>(from, to) : void()), ...);
}

status add_list(const tensor_list& from, tensor_list& to, list_budget& budget, allocator& memory);

// Adds to an item, in memory of its own.
status add_item(const tensor& from, tensor& to, list_budget& budget, allocator& memory) {
  TROUPE_TRY(budget.count_item());
  if (from.empty())
    return {}; // an unset item counts as zeros
  if (to.empty()) {
    to = from;
    return {};
  }
  if (from.type() != to.type() || !(from.dims() == to.dims()))
    return invalid("items are ", to.type(), to.dims(), " and ", from.type(), from.dims());
  if (!to.unique()) {
    TROUPE_ASSIGN(to, to.clone(memory));
  }
  if (to.type() != dtype::variant) {
    add_numbers(types::numbers, from, to);
    return {};
  }
  for (int64_t i = 0; i < to.elements(); ++i)
    TROUPE_TRY(add_list(from.data<tensor_list>()[i], to.data<tensor_list>()[i], budget, memory));
  return {};
}

status add_list(const tensor_list& from, tensor_list& to, list_budget& budget, allocator& memory) {
  if (from.items.size() != to.items.size())
    return invalid("lists that are added must be equally long, got ", to.items.size(), " and ",
                   from.items.size(), " items");
  for (size_t i = 0; i < to.items.size(); ++i) {
    if (auto added = add_item(from.items[i], to.items[i], budget, memory); !added)
      return std::move(added).with_context(concat("item ", i));
    TROUPE_TRY(to.admit(to.items[i]));
  }
  return {};
}

} // namespace

status add_to_item(const tensor& from, tensor& to, allocator& memory) {
  list_budget budget;
  return add_item(from, to, budget, memory);
}

status add_lists(kernel_context& at) {
  TROUPE_ASSIGN(auto* sum, changed_list(at));
  list_budget budget;
  for (int i = 1; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(const auto* list, list_at(at, i));
    TROUPE_TRY(add_list(*list, *sum, budget, at.memory()));
  }
  return {};
}

} // namespace troupe::ops
