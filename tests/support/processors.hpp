// Sessions of this process with several processors.
#pragma once
#include "tests/support/catch.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"

namespace troupe::test {

/// `/cpu:0`, `/cpu:1` and so on, each of one thread; `threads` run regions.
inline std::unique_ptr<client> make_session(int processors, const program_options& programs = {},
                                            const pass_options& enabled_passes = {},
                                            size_t threads = 2) {
  client_options options;
  options.ops = &library();
  options.passes = enabled_passes;
  options.make_devices = [=]() -> result<std::vector<std::shared_ptr<device>>> {
    std::vector<std::shared_ptr<device>> devices;
    for (int i = 0; i < processors; ++i)
      devices.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 1}));
    return devices;
  };
  options.inter_op_threads = threads;
  options.programs = programs;
  auto local_client = client::local(options);
  REQUIRE(local_client);
  return *std::move(local_client);
}

} // namespace troupe::test
