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

// What the compiler has to say.
std::string log_of(nvrtcProgram of) {
  size_t length = 0;
  if (!library_functions::nvrtcGetProgramLogSize(of, &length) || length < 2)
    return {};
  std::string text(length, '\0');
  if (!library_functions::nvrtcGetProgramLog(of, text.data()))
    return {};
  text.pop_back();
  return text;
}

status check(cudaError_t code, const char* what) {
  if (code == cudaSuccess)
    return {};
  static_cast<void>(cudaGetLastError());
  return failure(error_kind::internal, what, ": ", cudaGetErrorName(code), ", ",
                 cudaGetErrorString(code));
}

// Stays loaded as long as the process: GPUs may still be to run it, also out of recordings.
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
  static kernel_cache all;
  return all;
}

} // namespace

result<std::string> compile_to_binary(const std::string& source, int major, int minor) {
  nvrtc_program program;
  TROUPE_TRY(library_functions::nvrtcCreateProgram(&program.handle, source.c_str(), "fused.cu", 0,
                                                   nullptr, nullptr));
  auto target = concat("--gpu-architecture=sm_", major, minor);
  const char* options[] = {target.c_str(), "--std=c++20", "--extra-device-vectorization",
                           // as nodes round that are not fused
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
  auto& all = all_kernels();
  kernel_cache::key key{gpu.compute_major, gpu.compute_minor, kernel, source};
  // Others that want the same wait for it.
  std::lock_guard guard{all.mutex};
  auto& known = all.known[key];
  if (known)
    return known;
  auto made = std::make_shared<loaded_kernel>();
  auto binary = compile_to_binary(source, gpu.compute_major, gpu.compute_minor);
  auto loaded = binary ? made->load(*binary, kernel) : binary.status();
  if (!loaded) {
    all.known.erase(key);
    return loaded;
  }
  known = made;
  return std::shared_ptr<const compiled_kernel>{std::move(made)};
}

} // namespace troupe::gpu
