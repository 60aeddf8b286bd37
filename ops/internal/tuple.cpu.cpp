// Stores, as one value, the tensors that a run of a function keeps for its gradient.
#include "troupe/ops/list/shared/lists.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::tuple_cpu {
namespace {

struct tuple_form {
  std::vector<int64_t> places;
  size_t count;
  std::vector<bool> swaps; // per element
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  auto count = setup.origin.attr<int64_t>("count");
  std::vector<bool> swaps(static_cast<size_t>(count));
  for (auto place : setup.origin.attr<std::vector<int64_t>>("swap"))
    swaps[static_cast<size_t>(place)] = true;
  return std::shared_ptr<void>{
      std::make_shared<tuple_form>(setup.origin.attr<std::vector<int64_t>>("places"),
                                   static_cast<size_t>(count), std::move(swaps))};
}

status run_tuple(kernel_context& at) {
  const auto& form = at.state<tuple_form>();
  TROUPE_ASSIGN(auto* list, new_list(at, 0, dtype::none, {}));
  list->items.resize(form.count);
  for (int i = 0; i < at.inputs(); ++i) {
    TROUPE_TRY(list->admit(at.input(i)));
    auto place = static_cast<size_t>(form.places[static_cast<size_t>(i)]);
    TROUPE_ASSIGN(list->items[place], form.swaps[place] ? swapped(at, at.input(i)) : at.input(i));
  }
  return {};
}

struct items_form {
  std::vector<int64_t> places;
  std::vector<partial_shape> shapes;
};

result<std::shared_ptr<void>> prepare_items(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<items_form>(setup.origin.attr<std::vector<int64_t>>("places"),
                                   setup.origin.attr<std::vector<partial_shape>>("shapes"))};
}

status run_items(kernel_context& at) {
  const auto& form = at.state<items_form>();
  TROUPE_ASSIGN(const auto* from, list_at(at, 0));
  for (int i = 0; i < at.outputs(); ++i) {
    auto place = static_cast<size_t>(form.places[static_cast<size_t>(i)]);
    if (place >= from->items.size())
      return failure(error_kind::internal, "a tuple of ", from->items.size(), " has no item ",
                     place);
    const auto& expected_shape = form.shapes[static_cast<size_t>(i)];
    auto item = from->items[place];
    if (item.empty()) {
      TROUPE_ASSIGN(item, zeros(at, at.output_type(i), expected_shape));
    } else if (item.type() != at.output_type(i)) {
      return failure(error_kind::internal, "item ", place, " of a tuple is ", item.type(),
                     ", expected ", at.output_type(i));
    }
    at.set_output(i, std::move(item));
  }
  return {};
}

} // namespace

extern constexpr kernel_def tuple_cpu{
    .op = "_Tuple",
    .run = {{dtype::none, run_tuple}},
    .prepare = prepare,
};

extern constexpr kernel_def tuple_items_cpu{
    .op = "_TupleItems",
    .run = {{dtype::none, run_items}},
    .prepare = prepare_items,
};

} // namespace troupe::ops::tuple_cpu
