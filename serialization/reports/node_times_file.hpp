// The measured costs of nodes as JSON, which keeps them from one process to the next.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/types/status.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// {"troupe": "node times", "version": 1, "nodes": [{"node": "layer1/product",
/// "device": "/job:local/task:0/device:cpu:0", "runs": 12, "mean_ns": 1500.5, "mean_bytes": 2560}]}
TROUPE_API std::string node_times_json(std::span<const node_time> times);

/// Parses such a text. Fails for any other text; the error names the fault.
TROUPE_API result<std::vector<node_time>> parse_node_times(std::string_view json);

/// The same with files. Errors name the file.
TROUPE_API status write_node_times(const std::string& path, std::span<const node_time> times);
TROUPE_API result<std::vector<node_time>> read_node_times(const std::string& path);

} // namespace troupe
