// What a build without CUDA says to those who want a kernel compiled.
#include "troupe/devices/gpu/cuda/compiled_kernel.hpp"

namespace troupe::gpu {
namespace {

status none() {
  return failure(error_kind::failed_precondition, "this build of Troupe has no CUDA devices");
}

} // namespace

result<std::string> compile_to_binary(const std::string&, int, int) { return none(); }

result<std::shared_ptr<const compiled_kernel>> compile(const std::string&, const std::string&,
                                                       const properties&) {
  return none();
}

} // namespace troupe::gpu
