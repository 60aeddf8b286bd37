// Faults that somebody has written down, in the place of those that a seed draws.
#pragma once
#include "tests/simulate/layout.hpp"
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::simulate {

/// `kind` is one of crash, replace (as crash, and the peers are told nothing), pause, partition,
/// stop (a partition of one direction), loss (of the connections of two), shortage and reopen.
struct scripted_fault {
  std::string text; ///< that it was read from
  std::string kind;
  std::chrono::nanoseconds at{}, lasts{};
  std::string first, second; ///< "worker:0", "ps:1", "client:0"

  /// Reads "12.5 partition worker:0 ps:1 for 3": seconds, what, who, and for how many seconds.
  static result<scripted_fault> parse(std::string_view text);
};

/// The index of the process with that name.
result<int> index_in(const layout& of, std::string_view name);

} // namespace troupe::simulate
