// CUDA's libraries, loaded when first used: binaries start on machines without them.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace troupe::gpu {

/// A library that is loaded at run time. Thread-safe.
class library {
public:
  /// Maps a code other than 0 to a kind: `unimplemented` for unsupported cases,
  /// `resource_exhausted`, or else `internal`.
  using kind_of_code = error_kind (*)(int);

  /// Texts that live as long as the program: "cuDNN", "libcudnn.so.9", "cuDNN 9 for CUDA 13", and
  /// the library's function that describes a code, or null if it has none.
  constexpr library(const char* name, const char* file, const char* package, const char* explains,
                    kind_of_code kind)
      : name_(name), file_(file), package_(package), explains_(explains), kind_(kind) {}

  /// Finds a function by its name; loads the library first. Fails with the package to install. A
  /// failure to load is remembered.
  result<void*> find(const char* function) noexcept;
  /// Converts the code that a function returned: 0 is success.
  status check(int code, const char* function) noexcept;

private:
  status load();

  const char *const name_, *const file_, *const package_, *const explains_;
  const kind_of_code kind_;
  std::mutex mutex_;
  void* loaded_ = nullptr;
  status missing_;
};

library& cublas();
library& cublas_lt();
library& cudnn();
library& cusolver();
library& nvrtc();
library& nccl();

/// A function of a library, found when it is first called.
template <class Function>
class library_function;

template <class Code, class... Args>
class library_function<Code(Args...)> {
public:
  constexpr library_function(library& (*source)(), const char* name)
      : source_(source), name_(name) {}

  /// Calls the function; a code other than 0 is an error.
  status operator()(Args... args) const {
    auto* address = address_.load(std::memory_order_acquire);
    if (!address) {
      TROUPE_ASSIGN(address, source_().find(name_));
      address_.store(address, std::memory_order_release);
    }
    auto code = reinterpret_cast<Code (*)(Args...)>(address)(args...);
    if (static_cast<int>(code) == 0)
      return {};
    return source_().check(static_cast<int>(code), name_);
  }

private:
  library& (*const source_)();
  const char* const name_;
  mutable std::atomic<void*> address_{nullptr};
};

/// Declares the library_function for a function of a library's header.
#define TROUPE_LIBRARY_FUNCTION(library, name)                                                     \
  constinit const ::troupe::gpu::library_function<decltype(::name)> name { library, #name }

/// Owns an object that a library makes. `Destroy` is a library_function.
template <class Handle, const auto& Destroy>
class library_object {
public:
  library_object() = default;
  library_object(library_object&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  library_object& operator=(library_object&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~library_object() {
    if (handle_)
      static_cast<void>(Destroy(handle_));
  }

  Handle get() const noexcept { return handle_; }
  /// The output parameter for the library's function that makes the object.
  Handle* out() noexcept { return &handle_; }

private:
  Handle handle_ = nullptr;
};

} // namespace troupe::gpu
