// Parses lists of hosts and counts in Slurm's syntax.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Expands "rack[1-2]node[01-03],login": rack1node01, rack1node02, ... Fails with invalid_argument,
/// also for more than `max_hosts` hosts, which bounds the memory.
result<std::vector<std::string>> expand_host_list(std::string_view text, size_t max_hosts);

/// Expands "2(x3),1": 2, 2, 2, 1. Counts are at least 1; there are at most `max_counts` of them.
result<std::vector<int>> expand_counts(std::string_view text, size_t max_counts);

} // namespace troupe
