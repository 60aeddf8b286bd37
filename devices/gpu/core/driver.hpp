// The interface of a GPU driver to the device above it: streams, events, memory, copies, graphs.
#pragma once
#include "troupe/devices/gpu/core/device_errors.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe::gpu {

// Opaque handles of the driver.
using stream = struct stream_handle*;      ///< runs its launches in order
using event = struct event_handle*;        ///< a position in a stream
using launch_graph = struct graph_handle*; ///< captured launches, which can be launched repeatedly

struct properties {
  std::string name;   ///< "NVIDIA H200"
  std::string driver; ///< its version: "CUDA 13.0"
  int compute_major = 0, compute_minor = 0;
  size_t total_memory = 0; ///< bytes
};

enum class direction : uint8_t { to_device, to_host, within };

class bias_driver;
class collective_driver;

/// One GPU. All functions are thread-safe and do not block, except for wait(). An error of kind
/// `unavailable` means that the GPU is lost.
class driver {
public:
  virtual ~driver() = default;
  virtual const properties& gpu_properties() const noexcept = 0;
  /// Makes this the GPU of the calling thread, for libraries that use the current GPU.
  virtual status make_current() { return {}; }
  /// Optional interfaces (collectives.hpp, add_bias.hpp): the driver itself, or null.
  virtual collective_driver* as_collective() noexcept { return nullptr; }
  virtual bias_driver* as_bias() noexcept { return nullptr; }

  virtual result<stream> make_stream() = 0;
  virtual void destroy(stream handle) noexcept = 0;
  virtual result<event> make_event() = 0;
  /// Makes an event that also measures time, which takes a little longer.
  virtual result<event> make_timed_event() = 0;
  /// The nanoseconds between two timed events that have passed.
  virtual result<int64_t> elapsed(event first, event second) = 0;
  virtual void destroy(event handle) noexcept = 0;

  /// Moves the event to the end of the stream.
  virtual status record(event handle, stream in) = 0;
  /// Makes later launches of the stream run after the event's current position.
  virtual status await(stream in, event handle) = 0;
  /// Whether all launches before the event have run. Fails with their error, if any.
  virtual result<bool> passed(event handle) = 0;
  /// Waits for the event, at most that long, and returns whether it has passed.
  virtual result<bool> wait(event handle, std::chrono::microseconds at_most) = 0;

  /// The errors of kernels about the values of their inputs; the device stays usable.
  virtual device_error_flags& device_errors() noexcept = 0;

  /// Allocates device memory, aligned to 256 bytes; returns null if there is none. Null pointers
  /// may be deallocated.
  virtual void* allocate(size_t bytes) noexcept = 0;
  /// No launch may use the memory any more.
  virtual void deallocate(void* memory) noexcept = 0;
  /// Allocates pinned host memory, which copies use asynchronously.
  virtual void* allocate_pinned(size_t bytes) noexcept = 0;
  virtual void deallocate_pinned(void* memory) noexcept = 0;

  /// Launches a copy. Host memory must be pinned, and live until the copy has run.
  virtual status copy(void* target, const void* source, size_t bytes, direction where,
                      stream in) = 0;
  /// Launches a copy from another GPU's memory, whose launches there have run. Fails with
  /// `unimplemented` if the peer's memory is not reachable.
  virtual status copy_from(driver& peer, void* target, const void* source, size_t bytes,
                           stream in) = 0;
  /// Launches a copy within the device's memory.
  virtual status copy(const strided_copy& described, stream in) = 0;
  /// Launches a fill. The element is in host memory, and is read before the call returns.
  virtual status fill(void* target, const void* element, size_t element_bytes, int64_t count,
                      stream in) = 0;

  /// Captures later launches of the stream instead of running them. One thread launches into the
  /// stream until the end.
  virtual status begin_capture(stream in) = 0;
  virtual result<launch_graph> end_capture(stream in) = 0;
  virtual status launch(launch_graph graph, stream in) = 0;
  /// May be called while the graph runs.
  virtual void destroy(launch_graph graph) noexcept = 0;
};

} // namespace troupe::gpu
