#include "troupe/devices/gpu/cuda/compiled_kernel.hpp"

#include "troupe/devices/gpu/cuda/libraries.hpp"

#include <cuda_runtime.h>
#include <nvrtc.h>

#include <map>
#include <mutex>

namespace troupe::gpu {
namespace {

namespace library_functions {
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcCreateProgram);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcCompileProgram);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcGetProgramLogSize);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcGetProgramLog);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcGetCUBINSize);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcGetCUBIN);
TROUPE_LIBRARY_FUNCTION(nvrtc, nvrtcDestroyProgram);
} // namespace library_functions

struct nvrtc_program {
  nvrtcProgram handle = nullptr;
  ~nvrtc_program() {
    if (handle)
      static_cast<void>(library_functions::nvrtcDestroyProgram(&handle));
  }
};

// Returns the compiler's log.
std::string log_of(nvrtcProgram program) {
  size_t length = 0;
  if (!library_functions::nvrtcGetProgramLogSize(program, &length) || length < 2)
    return {};
  std::string text(length, '\0');
  if (!library_functions::nvrtcGetProgramLog(program, text.data()))
    return {};
  text.pop_back();
  return text;
}

status check(cudaError_t code, const char* function) {
  if (code == cudaSuccess)
    return {};
  static_cast<void>(cudaGetLastError());
  return failure(error_kind::internal, function, ": ", cudaGetErrorName(code), ", ",
                 cudaGetErrorString(code));
}

// Stays loaded until the process ends: GPUs may still run it, also in captured graphs.
class loaded_kernel final : public compiled_kernel {
public:
  status load(const std::string& binary, const std::string& name) {
    TROUPE_TRY(check(
        cudaLibraryLoadData(&library_, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData"));
    return check(cudaLibraryGetKernel(&kernel_, library_, name.c_str()), "cudaLibraryGetKernel");
  }
  status launch(unsigned blocks, unsigned threads, void** arguments, stream in) const override {
    return check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3{blocks},
                                  dim3{threads}, arguments, 0, reinterpret_cast<cudaStream_t>(in)),
                 "cudaLaunchKernel");
  }

private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

struct kernel_cache {
  using key = std::tuple<int, int, std::string, std::string>;
  std::mutex mutex;
  std::map<key, std::shared_ptr<const compiled_kernel>> known;
};

kernel_cache& all_kernels() {
  static kernel_cache shared_cache;
  return shared_cache;
}

} // namespace

result<std::string> compile_to_binary(const std::string& source, int major, int minor) {
  nvrtc_program program;
  TROUPE_TRY(library_functions::nvrtcCreateProgram(&program.handle, source.c_str(), "fused.cu", 0,
                                                   nullptr, nullptr));
  auto target = concat("--gpu-architecture=sm_", major, minor);
  const char* options[] = {target.c_str(), "--std=c++20", "--extra-device-vectorization",
                           // for the rounding of unfused nodes
                           "--fmad=false"};
  if (auto compiled = library_functions::nvrtcCompileProgram(program.handle, 4, options);
      !compiled) {
    auto log = log_of(program.handle);
    return failure(compiled.kind(), compiled.message(), log.empty() ? "" : ":\n", log);
  }
  size_t bytes = 0;
  TROUPE_TRY(library_functions::nvrtcGetCUBINSize(program.handle, &bytes));
  std::string binary(bytes, '\0');
  TROUPE_TRY(library_functions::nvrtcGetCUBIN(program.handle, binary.data()));
  return binary;
}

result<std::shared_ptr<const compiled_kernel>>
compile(const std::string& source, const std::string& kernel, const properties& gpu) {
  auto& cache = all_kernels();
  kernel_cache::key key{gpu.compute_major, gpu.compute_minor, kernel, source};
  // Concurrent callers with the same source wait for one compilation.
  std::lock_guard guard{cache.mutex};
  auto& cached = cache.known[key];
  if (cached)
    return cached;
  auto kernel_object = std::make_shared<loaded_kernel>();
  auto binary = compile_to_binary(source, gpu.compute_major, gpu.compute_minor);
  auto loaded = binary ? kernel_object->load(*binary, kernel) : binary.status();
  if (!loaded) {
    cache.known.erase(key);
    return loaded;
  }
  cached = kernel_object;
  return std::shared_ptr<const compiled_kernel>{std::move(kernel_object)};
}

} // namespace troupe::gpu
