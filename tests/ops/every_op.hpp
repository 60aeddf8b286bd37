// Walks the registry: a promise about ops must hold for every op that is not listed as an
// exception, with the reason.
#pragma once
#include "tests/support/op_samples.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// All ops and kernels of the library.
const registry& library();

/// A device with two threads and 16 MiB, for kernels that request too much memory.
device& small_device();

struct exception {
  std::string_view op;
  std::string_view reason;
};

using failure_list = std::vector<std::string>;

/// Fails the test for each failure of an op without an exception, for each exception that
/// is no longer needed, and for exceptions of ops that do not exist.
void check_every_op(const std::function<failure_list(const op_def&)>& check,
                    const std::vector<exception>& exceptions = {});

} // namespace troupe::test
