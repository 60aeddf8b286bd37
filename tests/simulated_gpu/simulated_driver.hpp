// A driver without a GPU: streams are threads of the host with random delays.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <functional>
#include <memory>

namespace troupe::gpu {

struct simulation {
  size_t memory = size_t{256} << 20; ///< bytes
  /// The seed of delays. The same seed gives the same delays, not the same order of threads.
  unsigned seed = 1;
  std::chrono::microseconds longest_delay{20}; ///< before a launch runs; zero for none
  /// This many launches work, then the device is lost. Negative: never lost.
  int64_t launches_until_lost = -1;
  bool captures_fail = false;          ///< at their end
  bool peers_are_out_of_reach = false; ///< copies from other devices go through the host
};

/// Runs streams only in the order that events enforce: launches run late, at random times,
/// concurrently with those of other streams. New and freed memory is filled with rubbish, so that
/// reads that are too early or too late compute nonsense; the thread sanitizer reports them.
class simulated_driver : public driver {
public:
  /// Launches a function as a kernel. It may access memory of the device until it returns, and may
  /// run many times if it is captured. Its error is a device_error.
  virtual status launch(std::function<status()> kernel, stream in) = 0;
  using driver::launch;
  /// Loses the device: later calls fail, and launches that have not begun do not run.
  virtual void lose() = 0;
  /// The number of launches and copies requested; those of a graph count as one.
  virtual int64_t launches() const = 0;
  /// The misuses that a real driver would punish, such as a copy beyond a block's end; empty if
  /// there are none.
  virtual std::string misuses() const = 0;
};

std::unique_ptr<simulated_driver> make_simulated_driver(const simulation& options = {});

} // namespace troupe::gpu
