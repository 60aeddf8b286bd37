#include "troupe/ops/axes.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/runtime/infer.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto &data = at.input(0), &partitions = at.input(1);
  auto axes = partitions.rank();
  if (axes > data.rank() ||
      !std::ranges::equal(partitions.dims(), data.dims().extents().first(size_t(axes))))
    return invalid("the shape of partitions ", partitions.dims(), " must begin the shape of data ",
                   data.dims());
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(at.outputs()));
  int64_t row = 0;
  for (auto partition : partitions.values<int32_t>()) {
    if (partition < 0 || partition >= at.outputs())
      return invalid("partitions has ", partition, ", but there are the outputs [0, ", at.outputs(),
                     ')');
    rows[static_cast<size_t>(partition)].push_back(row++);
  }
  auto length = product(data.dims(), axes, data.rank());
  std::vector<int64_t> extents{0};
  extents.insert(extents.end(), data.dims().begin() + axes, data.dims().end());
  for (int i = 0; i < at.outputs(); ++i) {
    const auto& from = rows[static_cast<size_t>(i)];
    extents[0] = static_cast<int64_t>(from.size());
    TROUPE_ASSIGN(auto dims, shape::make(extents));
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    take_blocks(at, data, from, length, *out);
  }
  return {};
}

} // namespace

extern constexpr kernel_def dynamic_partition_cpu{
    .op = "DynamicPartition",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
