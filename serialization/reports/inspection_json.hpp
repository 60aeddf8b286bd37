// Inspections as JSON, for the HTTP server and for messages between tasks.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// {"ref": "/job:ps/task:0", "kind": "task", "properties": {"steps_running": 2}, "children": [...]}
/// and "left_out" if it is not 0. Bytes that are no UTF-8 are replaced.
std::string to_json(const inspection& inspected);

/// The inverse; fails with invalid_argument for any other text, and for an inspection that exceeds
/// inspection_limits.
result<inspection> parse_inspection(std::string_view json);

/// The same as a u8 tensor, for a message to another task.
result<tensor> to_bytes(const inspection& inspected);
result<inspection> parse_inspection(const tensor& bytes);

} // namespace troupe
