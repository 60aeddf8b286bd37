#include "tests/simulated_gpu/simulated_layers.hpp"

namespace troupe::test {
namespace {

gpu::layer_library* used = nullptr;

} // namespace

void use_simulated_layers(gpu::layer_library* new_library) { used = new_library; }

gpu::layer_library* simulated_layers() { return used; }

} // namespace troupe::test
