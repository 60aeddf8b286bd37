// Inspections as JSON: how they are served, and how they travel between tasks.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// {"ref": "/job:ps/task:0", "kind": "task", "properties": {"steps_running": 2}, "children": [...]}
/// and "left_out" where it is not 0. Bytes that are no UTF-8 are replaced.
std::string to_json(const inspection& what);

/// Reads that again; fails with invalid_argument where it is anything else, or goes beyond
/// inspection_limits.
result<inspection> parse_inspection(std::string_view json);

/// The same as a u8 tensor, for its way to another task.
result<tensor> to_bytes(const inspection& what);
result<inspection> parse_inspection(const tensor& bytes);

} // namespace troupe
