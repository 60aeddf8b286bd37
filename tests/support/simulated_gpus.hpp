// Sessions with simulated GPUs: every op runs on them, by its GPU kernel, or by the processor's
// kernel if the op has no GPU kernel or a library's.
#pragma once
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <memory>
#include <vector>

namespace troupe::test {

/// All ops, with kernels for processors and for simulated GPUs.
const registry& simulated_library();

/// A processor with one thread, and that many GPUs.
std::vector<std::shared_ptr<device>> make_simulated_devices(int gpus,
                                                            const gpu::simulation& simulation = {},
                                                            const gpu::memory_options& memory = {});

} // namespace troupe::test
