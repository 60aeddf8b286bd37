// CUDA's libraries, looked for when they are first needed: binaries start on machines without them.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace troupe::gpu {

/// A library that nothing links to. All functions may be called from any thread.
class library {
public:
  /// What a code other than 0 means: `unimplemented` where the library does not do what it was
  /// asked for, `resource_exhausted`, or else `internal`.
  using kind_of_code = error_kind (*)(int);

  /// Texts that live as long as the program: "cuDNN", "libcudnn.so.9", "cuDNN 9 for CUDA 13", and
  /// the function of the library that tells what a code means, or null where it has none.
  constexpr library(const char* name, const char* file, const char* package, const char* explains,
                    kind_of_code kind)
      : name_(name), file_(file), package_(package), explains_(explains), kind_(kind) {}

  /// The function of that name; loads the library first. Where there is none, the error says what
  /// to install, and will the next time.
  result<void*> find(const char* function) noexcept;
  /// What a function returned: 0 is success.
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
  constexpr library_function(library& (*of)(), const char* name) : of_(of), name_(name) {}

  /// Calls it; another code than 0 is an error.
  status operator()(Args... args) const {
    auto* known = found_.load(std::memory_order_acquire);
    if (!known) {
      TROUPE_ASSIGN(known, of_().find(name_));
      found_.store(known, std::memory_order_release);
    }
    auto code = reinterpret_cast<Code (*)(Args...)>(known)(args...);
    if (static_cast<int>(code) == 0)
      return {};
    return of_().check(static_cast<int>(code), name_);
  }

private:
  library& (*const of_)();
  const char* const name_;
  mutable std::atomic<void*> found_{nullptr};
};

/// Declares the function of a library that its header declares under that name.
#define TROUPE_LIBRARY_FUNCTION(library, name)                                                     \
  constinit const ::troupe::gpu::library_function<decltype(::name)> name { library, #name }

/// What a library makes and wants destroyed: `Destroy` is a library_function.
template <class Handle, const auto& Destroy>
class library_object {
public:
  library_object() = default;
  library_object(library_object&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  library_object& operator=(library_object&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~library_object() {
    if (held_)
      static_cast<void>(Destroy(held_));
  }

  Handle get() const noexcept { return held_; }
  /// Where a library puts what it makes.
  Handle* out() noexcept { return &held_; }

private:
  Handle held_ = nullptr;
};

} // namespace troupe::gpu
