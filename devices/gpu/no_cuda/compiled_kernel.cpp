// Stubs of compiled kernels for builds without CUDA.
#include "troupe/devices/gpu/cuda/compiled_kernel.hpp"

namespace troupe::gpu {
namespace {

status unavailable_kernel() {
  return failure(error_kind::failed_precondition, "this build of Troupe has no CUDA devices");
}

} // namespace

result<std::string> compile_to_binary(const std::string&, int, int) { return unavailable_kernel(); }

result<std::shared_ptr<const compiled_kernel>> compile(const std::string&, const std::string&,
                                                       const properties&) {
  return unavailable_kernel();
}

} // namespace troupe::gpu
