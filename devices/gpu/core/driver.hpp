// What a GPU's device asks of the driver under it: streams, events, memory, copies, graphs.
#pragma once
#include "troupe/devices/gpu/core/device_errors.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe::gpu {

// What these stand for is the driver's.
using stream = struct stream_handle*;      ///< runs what is launched into it in that order
using event = struct event_handle*;        ///< a place in a stream
using launch_graph = struct graph_handle*; ///< launches that were noted down, to be repeated

struct properties {
  std::string name;   ///< "NVIDIA H200"
  std::string driver; ///< its version: "CUDA 13.0"
  int compute_major = 0, compute_minor = 0;
  size_t total_memory = 0; ///< bytes
};

enum class direction : uint8_t { to_device, to_host, within };

class bias_driver;
class collective_driver;

/// One GPU. All functions may be called from any thread, and launch or answer without waiting,
/// except for wait(). An error of kind `unavailable` means that nothing works any more.
class driver {
public:
  virtual ~driver() = default;
  virtual const properties& about() const noexcept = 0;
  /// Makes it the GPU of the calling thread, for libraries that use whichever that is.
  virtual status make_current() { return {}; }
  /// Itself, where its GPU computes together with others (collectives.hpp), adds biases
  /// (add_bias.hpp).
  virtual collective_driver* as_collective() noexcept { return nullptr; }
  virtual bias_driver* as_bias() noexcept { return nullptr; }

  virtual result<stream> make_stream() = 0;
  virtual void destroy(stream which) noexcept = 0;
  virtual result<event> make_event() = 0;
  /// One that also tells when it was passed, which takes a little longer.
  virtual result<event> make_timed_event() = 0;
  /// Nanoseconds between the passing of two timed events, which both have been passed.
  virtual result<int64_t> elapsed(event from, event to) = 0;
  virtual void destroy(event which) noexcept = 0;

  /// The event now stands for all that the stream was given so far.
  virtual status record(event which, stream in) = 0;
  /// What the stream is given from now on runs after what the event stands for now.
  virtual status await(stream in, event which) = 0;
  /// Whether all that the event stands for has run. The error of what it stands for, if any.
  virtual result<bool> passed(event which) = 0;
  /// The same, but waits for it, at most that long.
  virtual result<bool> wait(event which, std::chrono::microseconds at_most) = 0;

  /// Where kernels say what is wrong with the values that they were given; the device goes on.
  virtual device_error_flags& device_errors() noexcept = 0;

  /// Memory of the device, aligned to 256 bytes; null where there is none. A null pointer may be
  /// given back.
  virtual void* allocate(size_t bytes) noexcept = 0;
  /// Nothing that was launched may use it any more.
  virtual void deallocate(void* memory) noexcept = 0;
  /// Memory of the host that copies run to and from without waiting.
  virtual void* allocate_pinned(size_t bytes) noexcept = 0;
  virtual void deallocate_pinned(void* memory) noexcept = 0;

  /// Launches a copy. Host memory must be pinned, and stay until it has run.
  virtual status copy(void* to, const void* from, size_t bytes, direction where, stream in) = 0;
  /// Launches a copy from another GPU's memory, whose use there lies behind; `unimplemented` where
  /// that cannot be reached.
  virtual status copy_from(driver& peer, void* to, const void* from, size_t bytes, stream in) = 0;
  /// Launches a copy within the device's memory.
  virtual status copy(const strided_copy& what, stream in) = 0;
  /// Launches the writing of an element, which is the host's and may be gone at once.
  virtual status fill(void* to, const void* element, size_t element_bytes, int64_t count,
                      stream in) = 0;

  /// What the stream is given from now on is noted down instead of run. One thread launches into it
  /// until the end.
  virtual status begin_capture(stream in) = 0;
  virtual result<launch_graph> end_capture(stream in) = 0;
  virtual status launch(launch_graph what, stream in) = 0;
  /// May be called while it runs.
  virtual void destroy(launch_graph what) noexcept = 0;
};

} // namespace troupe::gpu
