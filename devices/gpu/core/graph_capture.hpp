// Launches of one thread that were captured in a graph, and the memory that they use.
#pragma once
#include "troupe/devices/gpu/core/gpu_context.hpp"

namespace troupe::gpu {

/// While a thread captures, its launches go to a captured stream; other threads are not affected.
/// Blocks that are freed during the capture are reused by the same recording. After the capture,
/// each block is idle or belongs to an output that is in use.
class graph_capture final : public recording {
public:
  static result<std::unique_ptr<recording>> begin(std::shared_ptr<gpu_context> recorded_context);
  ~graph_capture() override;

  /// The active recording of this thread on that device, or null.
  static graph_capture* current(const gpu_context& recorded_context) noexcept;

  result<tensor> make_input(dtype type, const shape& dims) override;
  status end() override;
  bool owns(const void* memory) const override;
  bool prepare_launch(std::span<output> outputs) override;
  bool usable() const override;
  void cancel_launch() override;
  status launch() override;

  stream into() const noexcept { return stream_; }
  /// Keeps the first error, for callers that ignore the outcome of a launch.
  status note(status outcome);
  void keep(tensor used) { kept_.push_back(std::move(used)); }
  void* allocate(size_t bytes) noexcept;
  void* allocate_unused(size_t bytes) noexcept;

private:
  friend class gpu_context;
  explicit graph_capture(std::shared_ptr<gpu_context> recorded_context)
      : context_(std::move(recorded_context)) {}

  struct owned_block {
    size_t size;
    bool idle;
  };
  result<launch_graph> stop_capture();
  // The following functions are called with the context's lock.
  void put_back(void* memory) noexcept;
  void release_blocks() noexcept;

  const std::shared_ptr<gpu_context> context_;
  stream stream_ = nullptr; // during the capture
  status failed_;
  std::vector<tensor> kept_, inputs_; // inputs: until the end of the capture
  // The following members are guarded by the context's lock.
  launch_graph graph_ = nullptr;
  std::unordered_map<const void*, owned_block> blocks_;
  block_cache free_; // during the capture
  bool claimed_ = false, usable_ = false;
};

class gpu_device;

/// Whether launches of this thread on the device are captured.
bool is_recording(gpu_device& target) noexcept;

} // namespace troupe::gpu
