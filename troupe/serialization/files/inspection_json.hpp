// Inspections as JSON: how they are served, and how they travel between tasks.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/types/status.hpp"

namespace troupe {

/// {"ref": "/job:ps/task:0", "kind": "task", "properties": {"steps_running": 2}, "children": [...]}
/// and "left_out" where it is not 0. Bytes that are no UTF-8 are replaced.
std::string to_json(const inspection& what);

/// Reads that again; fails with invalid_argument where it is anything else, or goes beyond
/// inspection_limits.
result<inspection> parse_inspection(std::string_view json);

} // namespace troupe
