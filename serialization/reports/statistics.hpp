// A task's statistics of a step as bytes, for a message to the process that requested them.
#pragma once
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <span>

namespace troupe {

/// Returns a u8 tensor. Fails with resource_exhausted if the format cannot hold the statistics.
result<tensor> write_statistics(const task_statistics& statistics);

/// Fails with data_loss for bytes that write_statistics() cannot have written. Allocates at most a
/// few times the size of `bytes`.
result<task_statistics> read_statistics(std::span<const std::byte> bytes);

} // namespace troupe
