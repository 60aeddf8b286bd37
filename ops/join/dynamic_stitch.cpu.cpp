#include "troupe/ops/join/shared/dynamic_stitch.hpp"
#include "troupe/ops/join/shared/dynamic_partition.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::dynamic_stitch_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto length, check_partitions(at));
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(at.outputs()));
  int64_t row = 0;
  for (auto partition : at.input(1).values<int32_t>()) {
    if (partition < 0 || partition >= at.outputs())
      return invalid("partitions has ", partition, ", but there are the outputs [0, ", at.outputs(),
                     ')');
    rows[static_cast<size_t>(partition)].push_back(row++);
  }
  for (int i = 0; i < at.outputs(); ++i) {
    const auto& from = rows[static_cast<size_t>(i)];
    TROUPE_ASSIGN(auto dims, partition_dims(at, static_cast<int64_t>(from.size())));
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    take_blocks(at, at.input(0), from, length, *out);
  }
  return {};
}

} // namespace

extern constexpr kernel_def dynamic_partition_cpu{
    .op = "DynamicPartition",
    .run = {{dtype::none, run}},
};

extern constexpr kernel_def dynamic_stitch_cpu{
    .op = "DynamicStitch",
    .run = {{dtype::none, stitch}},
};

extern constexpr kernel_def parallel_dynamic_stitch_cpu{
    .op = "ParallelDynamicStitch",
    .run = {{dtype::none, stitch}},
};

} // namespace troupe::ops::dynamic_stitch_cpu
