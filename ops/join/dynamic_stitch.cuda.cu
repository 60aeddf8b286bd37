#include "troupe/ops/join/shared/dynamic_partition.hpp"
#include "troupe/ops/join/shared/dynamic_stitch.cuda.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"

namespace troupe::ops::dynamic_stitch_gpu {
namespace {

struct partition_number_body {
  gpu::device_errors wrong;
  const int32_t* partitions;
  int64_t limit;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    int64_t partition = partitions[i];
    auto is_there = partition >= 0 && partition < limit;
    if (!is_there)
      wrong.add(partition, limit);
    to[i] = is_there ? partition : limit;
  }
};

// Binary search.
struct partition_size_body {
  const int64_t* sorted;
  int64_t count;
  int64_t* sizes;

  TROUPE_DEVICE int64_t begin_of(int64_t partition) const {
    int64_t low = 0, high = count;
    while (low < high) {
      auto middle = low + (high - low) / 2;
      if (sorted[middle] < partition)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  TROUPE_DEVICE void operator()(int64_t i) const { sizes[i] = begin_of(i + 1) - begin_of(i); }
};

// Writes the numbers of the rows, ordered by partition.
status partition_count(kernel_context& at) {
  const auto& partitions = at.input(1);
  TROUPE_TRY(check_partitions(at));
  auto rows = partitions.elements(), limit = at.origin().attr<int64_t>("num_partitions");
  TROUPE_ASSIGN(auto* sizes, gpu::make_counts(at, limit));
  TROUPE_ASSIGN(auto parts, tensor::make(dtype::i64, shape{rows}, at.memory()));
  TROUPE_TRY(gpu::for_each(
      at, rows,
      partition_number_body{
          {at, "partitions"}, partitions.data<int32_t>(), limit, parts.template data<int64_t>()}));
  TROUPE_ASSIGN(auto sorted, gpu::sort_updates(at, parts, limit));
  at.set_output(1, sorted.numbers);
  return gpu::for_each(at, limit,
                       partition_size_body{sorted.parts.template data<int64_t>(), rows, sizes});
}

struct partition_row {
  const int64_t* rows;
  int64_t limit;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return rows[i] < limit ? rows[i] : -1; }
};

status partition_take(kernel_context& at) {
  TROUPE_ASSIGN(auto length, check_partitions(at));
  auto row_count = at.input(1).elements();
  TROUPE_ASSIGN(auto counted, gpu::counted_before(at, at.outputs(), row_count, row_count));
  const auto* rows = counted.kept;
  for (int i = 0; i < at.outputs(); ++i) {
    auto count = counted.counts[static_cast<size_t>(i)];
    TROUPE_ASSIGN(auto dims, partition_dims(at, count));
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    TROUPE_TRY(gpu::take_blocks(at, at.input(0), length, *out, partition_row{rows, row_count}));
    rows += count;
  }
  return {};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(dynamic_partition){
    .op = "DynamicPartition",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<partition_count, partition_take>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(dynamic_stitch){
    .op = "DynamicStitch",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<gpu::count_stitched, gpu::put_stitched>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(parallel_dynamic_stitch){
    .op = "ParallelDynamicStitch",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<gpu::count_stitched, gpu::put_stitched>}},
};

} // namespace troupe::ops::dynamic_stitch_gpu
