// A device whose kernels launch work that runs later, in memory of its own: a GPU.
#pragma once
#include "troupe/runtime/device.hpp"

#include <functional>
#include <memory>

namespace troupe {

/// When the device came to places in its line of launches. For one step at a time; any thread may
/// mark, each mark once.
class device_clock {
public:
  virtual ~device_clock() = default;
  /// Forgets all marks. Waits for the device now and then, to compare its clock with ours.
  virtual void begin() noexcept = 0;
  /// Notes the place behind all that was launched before; `which` is less than what was asked for.
  virtual void mark(uint32_t which) noexcept = 0;
  /// The time of a mark on the steady clock, in nanoseconds; 0 where there is none, or where the
  /// device has not come there.
  virtual int64_t time_of(uint32_t which) noexcept = 0;
};

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

  /// A clock with so many marks; null where the device has none.
  virtual std::unique_ptr<device_clock> make_clock(uint32_t marks) = 0;

  /// Why nothing can be launched any more; ok while the device works.
  virtual status health() const = 0;
};

} // namespace troupe
