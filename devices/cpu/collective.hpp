// Collective operations among CPU devices of one machine: loops over their shared memory.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"

namespace troupe {

/// Computes on the calling thread and the threads of the first member's device, and sets the output
/// of each participant; equal outputs share their memory. Members are combined in order, so that
/// the same inputs give the same bits. 16-bit numbers are summed in f32 and rounded once. Returns
/// early when `stop` is due.
status run_collective_on_cpu(const collective_call& call, std::span<collective_part> parts,
                             stop_signal* stop);

/// Reduces elements [begin, end) of several arrays into `target`, in order. Used by CPU devices and
/// by simulated GPUs.
void combine(void* target, std::span<const void* const> sources, int64_t begin, int64_t end,
             dtype type, reduction operation, bool average);

/// Reduces likewise, and divides the sum by `divide_by`. For sources that are themselves sums of
/// several members, or parts of the members' tensors.
void combine_and_divide(void* target, std::span<const void* const> sources, int64_t begin,
                        int64_t end, dtype type, reduction operation, int64_t divide_by);

} // namespace troupe
