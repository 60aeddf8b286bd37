// A device whose kernels launch asynchronous work in the device's own memory, such as a GPU.
#pragma once
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/device/device.hpp"

#include <functional>
#include <memory>
#include <span>

namespace troupe {

/// A recorded sequence of launches and the memory that they use, which can be launched again as one
/// (a CUDA graph, for instance). No other work gets that memory. When the recording is destroyed,
/// work already launched still runs, and tensors over its memory stay valid. Used by one thread at
/// a time.
class recording {
public:
  virtual ~recording() = default;

  /// Before end(): allocates memory for an input that is copied in before each launch. No other
  /// recorded allocation shares this memory, even if the tensor is released early.
  virtual result<tensor> make_input(dtype type, const shape& dims) = 0;

  /// Ends what accelerator::record() started, on the same thread. Fails if an operation cannot be
  /// recorded or tensors in the recording's memory are still referenced; the recording is then
  /// unusable.
  virtual status end() = 0;

  /// Returns whether the address is in the recording's memory.
  virtual bool owns(const void* memory) const = 0;

  /// A result of the launches: the memory that they write, and the tensor that consumers get.
  struct output {
    void* memory = nullptr;
    dtype type = dtype::none;
    shape dims = {};
    tensor value = {};
  };
  /// Called before each launch. Creates the outputs' tensors, each in separate memory. Returns
  /// false if a tensor of an earlier launch is still referenced.
  virtual bool prepare_launch(std::span<output> outputs) = 0;
  /// Returns false after the device has reclaimed the memory because other work needed it. The
  /// device does not reclaim it between prepare_launch() and launch() or cancel_launch().
  virtual bool usable() const = 0;
  virtual void cancel_launch() = 0;
  /// Launches all recorded work, after all work launched before.
  virtual status launch() = 0;
};

/// Counters of recordings since the start.
struct replay_statistics {
  uint64_t recordings = 0; ///< recordings made
  uint64_t replays = 0;    ///< launches of recordings
};

/// Counters of copied bytes since the start.
struct copy_statistics {
  uint64_t uploaded = 0, downloaded = 0;
  uint64_t copied_from_devices = 0; ///< copied from other devices, without the host
};

/// Measures when the device reaches marks in its stream of launches. Used for one step at a time.
/// Any thread may set a mark, each mark once.
class device_clock {
public:
  virtual ~device_clock() = default;
  /// Deletes all marks. Sometimes waits for the device to compare its clock with the host's.
  virtual void begin() noexcept = 0;
  /// Sets a mark after all work launched before. `index` is less than the number of marks.
  virtual void mark(uint32_t index) noexcept = 0;
  /// Returns whether marks can also be set in the copy streams.
  virtual bool marks_copies() const noexcept { return false; }
  /// Sets a mark after all copies launched before on the copy stream.
  virtual void mark_copy(uint32_t, copy_stream) noexcept {}
  /// Returns the time of a mark on the steady clock, in nanoseconds; 0 if the mark is not set or
  /// the device has not reached it.
  virtual int64_t time_of(uint32_t index) noexcept = 0;
};

class swap_support;

/// Kernels and the functions below only launch work: they return before the work has run. All work
/// runs in the order of the launches, as on one stream. A tensor may therefore be passed on or
/// released as soon as its kernel is launched. Any thread may call any function; no function
/// blocks.
class accelerator : public device {
public:
  accelerator* as_accelerator() noexcept final { return this; }

  /// Returns the device that runs nodes which read only shapes or a few integers.
  virtual device& host() noexcept = 0;

  /// Launches a copy of a host tensor. The tensor may be released at once.
  virtual result<tensor> upload(const tensor& from) = 0;

  /// Launches a copy of a tensor of this device to the host. Calls `done` once, with the copy or an
  /// error, from a thread of the device. `done` must not block.
  using on_downloaded = std::function<void(result<tensor>)>;
  virtual void download(tensor from, on_downloaded done) = 0;

  /// Launches a copy of another device's tensor, which may be released at once. Fails with
  /// `unimplemented` if a copy is possible only by way of the host.
  virtual result<tensor> copy_from_device(const tensor& from) {
    return failure(error_kind::unimplemented, "a tensor in the memory of ",
                   from.space() ? from.space()->name() : "the host",
                   " is copied by way of the host");
  }
  virtual copy_statistics copies() const { return {}; }

  /// Returns this device if it can move tensors to host memory for a while (swap_support.hpp).
  virtual swap_support* as_swap_support() noexcept { return nullptr; }

  /// Calls `done` once, when all work launched before has run, with an error if one occurred since
  /// the last call. `done` is called from a thread of the device and must not block.
  using on_done = std::function<void(status)>;
  virtual void notify_when_done(on_done done) = 0;

  /// Starts a recording: until recording::end(), launches of this thread on this device are
  /// recorded instead of run, and memory that it allocates here belongs to the recording. Uploads
  /// run at once; the recording keeps the uploaded tensors.
  virtual result<std::unique_ptr<recording>> record() {
    return failure(error_kind::unimplemented, "this device makes no recordings");
  }
  virtual replay_statistics replays() const { return {}; }

  /// Returns a clock with this number of marks; null if the device has none.
  virtual std::unique_ptr<device_clock> make_clock(uint32_t marks) = 0;

  /// Returns ok while the device works, else the error that prevents further launches.
  virtual status health() const = 0;
};

} // namespace troupe
