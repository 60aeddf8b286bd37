#include "troupe/devices/gpu/cuda/libraries.hpp"

#include <dlfcn.h>

namespace troupe::gpu {
namespace {

// Codes are numbers, because the headers of the libraries need not be installed.
error_kind any_error(int) { return error_kind::internal; }

error_kind kind_in_cublas(int code) {
  switch (code) {
    case 3: return error_kind::resource_exhausted; // ALLOC_FAILED
    case 15: return error_kind::unimplemented;     // NOT_SUPPORTED
    default: return error_kind::internal;
  }
}

error_kind kind_in_cudnn(int code) {
  if (code == 4003 || code == 4004) // HOST_ and DEVICE_ALLOCATION_FAILED
    return error_kind::resource_exhausted;
  // BAD_PARAM and NOT_SUPPORTED: unsupported cases give either.
  return code / 1000 == 2 || code / 1000 == 3 ? error_kind::unimplemented : error_kind::internal;
}

error_kind kind_in_cusolver(int code) {
  return code == 2 ? error_kind::resource_exhausted : error_kind::internal; // ALLOC_FAILED
}

} // namespace

status library::load() {
  if (loaded_ || !missing_)
    return missing_;
  // Local symbols, so that another version in the process is not affected.
  loaded_ = dlopen(file_, RTLD_NOW | RTLD_LOCAL);
  if (loaded_)
    return {};
  const auto* loader_error = dlerror();
  missing_ =
      failure(error_kind::failed_precondition, "needs ", name_, ", but ", file_,
              " cannot be loaded (", loader_error ? loader_error : "the loader does not say why",
              "): install ", package_, " where the loader finds it, or put the node on /cpu:0");
  return missing_;
}

result<void*> library::find(const char* function) noexcept {
  std::lock_guard guard{mutex_};
  TROUPE_TRY(load());
  if (auto* symbol = dlsym(loaded_, function))
    return symbol;
  return failure(error_kind::failed_precondition, "needs ", function, ", which ", file_,
                 " does not have: install ", package_, ", or put the node on /cpu:0");
}

status library::check(int code, const char* function) noexcept {
  if (code == 0)
    return {};
  if (!explains_)
    return failure(kind_(code), name_, ": ", function, ": error ", code,
                   ", which its header explains");
  auto explain = find(explains_);
  return failure(kind_(code), name_, ": ", function, ": error ", code, ", ",
                 explain ? reinterpret_cast<const char* (*)(int)>(*explain)(code)
                         : "which it does not explain");
}

library& cublas() {
  static library shared_library{"cuBLAS", "libcublas.so.13", "cuBLAS of CUDA 13",
                                "cublasGetStatusString", kind_in_cublas};
  return shared_library;
}

library& cublas_lt() {
  static library shared_library{"cuBLASLt", "libcublasLt.so.13", "cuBLAS of CUDA 13",
                                "cublasLtGetStatusString", kind_in_cublas};
  return shared_library;
}

library& cudnn() {
  static library shared_library{"cuDNN", "libcudnn.so.9", "cuDNN 9 for CUDA 13",
                                "cudnnGetErrorString", kind_in_cudnn};
  return shared_library;
}

library& cusolver() {
  static library shared_library{"cuSOLVER", "libcusolver.so.12", "cuSOLVER of CUDA 13", nullptr,
                                kind_in_cusolver};
  return shared_library;
}

library& nvrtc() {
  static library shared_library{"NVRTC", "libnvrtc.so.13", "NVRTC of CUDA 13",
                                "nvrtcGetErrorString", any_error};
  return shared_library;
}

library& nccl() {
  static library shared_library{"NCCL", "libnccl.so.2", "NCCL 2 for CUDA 13", "ncclGetErrorString",
                                any_error};
  return shared_library;
}

} // namespace troupe::gpu
