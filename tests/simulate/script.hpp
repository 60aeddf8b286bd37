// Faults given on the command line, which replace the faults drawn from the seed.
#pragma once
#include "tests/simulate/layout.hpp"
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::simulate {

/// `kind` is one of crash, replace (a crash without notice to the peers), pause, partition, stop (a
/// partition of one direction), loss (of the connections of two processes), shortage and reopen.
struct scripted_fault {
  std::string text; ///< the text that it was parsed from
  std::string kind;
  std::chrono::nanoseconds at{}, lasts{};
  std::string first, second; ///< "worker:0", "ps:1", "client:0"

  /// Parses "12.5 partition worker:0 ps:1 for 3": seconds, kind, processes, and the duration in
  /// seconds.
  static result<scripted_fault> parse(std::string_view text);
};

/// The index of the process with that name.
result<int> index_in(const layout& processes, std::string_view name);

} // namespace troupe::simulate
