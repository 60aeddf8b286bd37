// A task's statistics of a step as bytes, for their way to whoever asked.
#pragma once
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <span>

namespace troupe {

/// Returns a u8 tensor. Fails with resource_exhausted for more than the format can hold.
result<tensor> write_statistics(const task_statistics& what);

/// Fails with data_loss for whatever write_statistics() cannot have written. Nothing larger than a
/// few times `bytes` is allocated.
result<task_statistics> read_statistics(std::span<const std::byte> bytes);

} // namespace troupe
