// Collective operations among processors of one machine: plain loops over memory that all share.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"

namespace troupe {

/// Computes, on the calling thread and the first member's, and gives each participant its output;
/// outputs that are equal share their memory. Members are taken in their order, so that the same
/// inputs give the same bits; 16-bit numbers are summed up in f32, and rounded once. Leaves off
/// when `stop` is due.
status exchange_on_processors(const collective_call& what, std::span<collective_part> all,
                              stop_signal* stop);

/// Reduces elements [begin, end) of several places into one, in order: what a processor does, and
/// a simulated GPU.
void combine(void* to, std::span<const void* const> from, int64_t begin, int64_t end, dtype type,
             reduction by, bool average);

/// The same of what is a part of the members' tensors only, or sums of several members: a sum is
/// divided by their number, if it is a mean.
void combine_and_divide(void* to, std::span<const void* const> from, int64_t begin, int64_t end,
                        dtype type, reduction by, int64_t divide_by);

} // namespace troupe
