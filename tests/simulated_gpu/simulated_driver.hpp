// A driver without a GPU: streams are threads of the host, which dawdle at random.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"

#include <functional>
#include <memory>

namespace troupe::gpu {

struct simulation {
  size_t memory = size_t{256} << 20; ///< bytes
  /// Of the delays. The same seed gives the same delays, not the same order of threads.
  unsigned seed = 1;
  std::chrono::microseconds longest_delay{20}; ///< before a launch runs; zero for none
  /// That many launches work; then the device is lost. Negative: never.
  int64_t launches_until_lost = -1;
  bool captures_fail = false;          ///< when they end
  bool peers_are_out_of_reach = false; ///< what other devices have comes by way of the host
};

/// Runs streams in the order that events demand, and in no other: what is launched runs late, at
/// random times, beside what other streams run. Fresh and freed memory holds rubbish, so that who
/// reads too early, or too late, computes nonsense; the thread sanitizer names the culprit.
class simulated_driver : public driver {
public:
  /// Launches a function: a kernel. It may touch memory of the device until it returns, and may
  /// run many times, where it is captured. Its error is a device_error.
  virtual status launch(std::function<status()> kernel, stream in) = 0;
  using driver::launch;
  /// How many launches and copies were asked for; those of a graph are one.
  virtual int64_t launches() const = 0;
  /// What was done that a real driver would punish, such as a copy beyond a block's end; empty for
  /// nothing.
  virtual std::string misdeeds() const = 0;
};

std::unique_ptr<simulated_driver> make_simulated_driver(const simulation& options = {});

} // namespace troupe::gpu
