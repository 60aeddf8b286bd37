// A device whose kernels launch work that runs later, in memory of its own: a GPU.
#pragma once
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/device/device.hpp"

#include <functional>
#include <memory>
#include <span>

namespace troupe {

/// Launches that were noted down together with the memory that they use, to be made again at once.
/// Nobody else gets that memory. When the recording goes, what was launched still runs, and tensors
/// over its memory stay. Used by one thread at a time.
class recording {
public:
  virtual ~recording() = default;

  /// Before the end: memory for what is copied in before each launch. Nothing else that is noted
  /// down gets it, however early it was let go of.
  virtual result<tensor> make_input(dtype type, const shape& dims) = 0;

  /// Ends what accelerator::record() began, on the same thread. Fails where something was asked for
  /// that cannot be noted down, or where tensors in the recording's memory are still held: it is of
  /// no use then.
  virtual status end() = 0;

  /// Whether it lies in the recording's memory.
  virtual bool owns(const void* memory) const = 0;

  /// A tensor for whoever gets what the launches leave at that place.
  struct output {
    void* memory = nullptr;
    dtype type = dtype::none;
    shape dims = {};
    tensor value = {};
  };
  /// To be asked before each launch: makes the outputs' tensors, each at a place of its own. False
  /// where somebody still holds one of those of an earlier launch.
  virtual bool claim(std::span<output> outputs) = 0;
  /// False once the device has taken the memory back, because others needed it. That never happens
  /// from a claim to its launch, or to its end without one.
  virtual bool usable() const = 0;
  virtual void unclaim() = 0;
  /// Launches it all, behind what was launched before.
  virtual status launch() = 0;
};

/// What was repeated so far.
struct replay_statistics {
  uint64_t recordings = 0; ///< made
  uint64_t replays = 0;    ///< launches of recordings
};

/// What came and went so far, in bytes.
struct copy_statistics {
  uint64_t uploaded = 0, downloaded = 0;
  uint64_t taken_over = 0; ///< from other devices, without the host
};

/// When the device came to places in its line of launches. For one step at a time; any thread may
/// mark, each mark once.
class device_clock {
public:
  virtual ~device_clock() = default;
  /// Forgets all marks. Waits for the device now and then, to compare its clock with ours.
  virtual void begin() noexcept = 0;
  /// Notes the place behind all that was launched before; `which` is less than what was asked for.
  virtual void mark(uint32_t which) noexcept = 0;
  /// Whether marks may stand among the copies beside that line, too.
  virtual bool marks_copies() const noexcept { return false; }
  /// Notes the place behind all copies of that kind that were launched before.
  virtual void mark_copy(uint32_t, copy_stream) noexcept {}
  /// The time of a mark on the steady clock, in nanoseconds; 0 where there is none, or where the
  /// device has not come there.
  virtual int64_t time_of(uint32_t which) noexcept = 0;
};

class swapping;

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

  /// Launches a copy of another device's tensor, which may be let go of at once. `unimplemented`
  /// where it cannot come without the host.
  virtual result<tensor> take_over(const tensor& from) {
    return failure(error_kind::unimplemented, "what lies in the memory of ",
                   from.space() ? from.space()->name() : "the host", " comes by way of the host");
  }
  virtual copy_statistics copies() const { return {}; }

  /// Itself, where tensors may spend a while in the host's memory (swapping.hpp).
  virtual swapping* as_swapping() noexcept { return nullptr; }

  /// Calls `done` once, when all that was launched before has run: the error, if there was one
  /// since the last time. As above.
  using on_done = std::function<void(status)>;
  virtual void when_done(on_done done) = 0;

  /// What this thread launches here until recording::end() is noted down instead of run, and the
  /// memory that it allocates here is the recording's. Uploads are made at once; the recording
  /// keeps what they made.
  virtual result<std::unique_ptr<recording>> record() {
    return failure(error_kind::unimplemented, "this device makes no recordings");
  }
  virtual replay_statistics replays() const { return {}; }

  /// A clock with so many marks; null where the device has none.
  virtual std::unique_ptr<device_clock> make_clock(uint32_t marks) = 0;

  /// Why nothing can be launched any more; ok while the device works.
  virtual status health() const = 0;
};

} // namespace troupe
