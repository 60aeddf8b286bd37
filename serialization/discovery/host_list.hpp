// Lists of hosts and counts as Slurm writes them.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Expands "rack[1-2]node[01-03],login": rack1node01, rack1node02, ... Fails with invalid_argument,
/// also for more than `most` hosts; memory is taken for no more.
result<std::vector<std::string>> expand_host_list(std::string_view text, size_t most);

/// Expands "2(x3),1": 2, 2, 2, 1. Numbers from 1 up; at most `most` of them.
result<std::vector<int>> expand_counts(std::string_view text, size_t most);

} // namespace troupe
