// Launches of one thread that were noted down, and the memory that they use.
#pragma once
#include "troupe/devices/gpu/core/core.hpp"

namespace troupe::gpu {

/// While a thread records, its launches go to a stream that is captured, and others go on. Blocks
/// that are given back meanwhile serve the same recording again, as they would serve anybody who
/// launches later; once it has ended, each block lies idle, or is an output that somebody holds.
class core_recording final : public recording {
public:
  static result<std::unique_ptr<recording>> begin(std::shared_ptr<core> in);
  ~core_recording() override;

  /// The one that this thread makes on that device, or null.
  static core_recording* current(const core& in) noexcept;

  result<tensor> make_input(dtype type, const shape& dims) override;
  status end() override;
  bool owns(const void* memory) const override;
  bool claim(std::span<output> outputs) override;
  bool usable() const override;
  void unclaim() override;
  status launch() override;

  stream into() const noexcept { return into_; }
  /// Not everybody who launches looks at the outcome.
  status note(status outcome);
  void keep(tensor what) { kept_.push_back(std::move(what)); }
  void* allocate(size_t bytes) noexcept;
  void* allocate_unused(size_t bytes) noexcept;

private:
  friend class core;
  explicit core_recording(std::shared_ptr<core> in) : core_(std::move(in)) {}

  struct owned_block {
    size_t size;
    bool idle;
  };
  result<launch_graph> stop_noting();
  // The rest is called under the core's lock.
  void put_back(void* memory) noexcept;
  void give_blocks_back() noexcept;

  const std::shared_ptr<core> core_;
  stream into_ = nullptr; // while it is made
  status failed_;
  std::vector<tensor> kept_, inputs_; // inputs: until the end
  // What follows is guarded by the core's lock.
  launch_graph graph_ = nullptr;
  std::unordered_map<const void*, owned_block> blocks_;
  block_cache free_; // while it is made
  bool claimed_ = false, usable_ = false;
};

class gpu_device;

/// Whether what this thread launches on the device is being noted down, not run.
bool is_recording(gpu_device& on) noexcept;

} // namespace troupe::gpu
