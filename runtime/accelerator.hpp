// A device whose kernels launch work that runs later, in memory of its own: a GPU.
#pragma once
#include "troupe/runtime/device.hpp"

#include <functional>

namespace troupe {

/// Kernels, and the functions here, launch: they return before what they launched has run. All
/// that is launched runs as if in one line, in the order of the launches, so that a tensor may be
/// handed on, and let go of, as soon as its kernel was launched. All functions may be called from
/// any thread; nobody waits in them.
class accelerator : public device {
public:
  accelerator* as_accelerator() noexcept final { return this; }

  /// Runs the nodes of its partitions that look at shapes only, or at a few integers.
  virtual device& host() noexcept = 0;

  /// Launches a copy of a host tensor, which may be let go of at once.
  virtual result<tensor> upload(const tensor& from) = 0;

  /// Launches a copy of a tensor of this device to the host, and calls `done` once, when it is
  /// there or when it failed, from a thread of the device's. `done` must not wait.
  using on_downloaded = std::function<void(result<tensor>)>;
  virtual void download(tensor from, on_downloaded done) = 0;

  /// Calls `done` once, when all that was launched before has run: the error, if there was one
  /// since the last time. As above.
  using on_done = std::function<void(status)>;
  virtual void when_done(on_done done) = 0;

  /// Why nothing can be launched any more; ok while the device works.
  virtual status health() const = 0;
};

} // namespace troupe
