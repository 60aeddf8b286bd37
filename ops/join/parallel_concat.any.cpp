#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::parallel_concat_any {
namespace {

result<std::shared_ptr<void>> keep_shape(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<shape>(setup.origin.attr<partial_shape>("shape").known())};
}

status run(kernel_context& at) {
  const auto& dims = at.state<shape>();
  auto row = dims;
  row.set(0, 1);
  for (int i = 0; i < at.inputs(); ++i)
    if (!(at.input(i).dims() == row))
      return invalid("value ", i, " must have the shape ", row, ", got ", at.input(i).dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto length = row.elements();
  strided_iterator places;
  places.push_back(length, {1, 0});
  for (int i = 0; i < at.inputs(); ++i)
    copy_to_strided(at, places, at.input(i), {*out, i * length});
  return {};
}

} // namespace

extern constexpr kernel_def parallel_concat_any{
    .op = "ParallelConcat",
    .run = {{dtype::none, run}},
    .prepare = keep_shape,
    .on_any_device = true,
};

} // namespace troupe::ops::parallel_concat_any
