#include "troupe/devices/gpu/core/graph_capture.hpp"

#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

thread_local core_recording* active_recording = nullptr;
thread_local const core* active_core = nullptr;

} // namespace

core_recording* core_recording::current(const core& recorded_core) noexcept {
  return active_core == &recorded_core ? active_recording : nullptr;
}

result<std::unique_ptr<recording>> core_recording::begin(std::shared_ptr<core> recorded_core) {
  TROUPE_TRY(recorded_core->health());
  if (active_recording)
    return failure(error_kind::internal, "this thread captures already");
  std::unique_ptr<core_recording> created{new core_recording{std::move(recorded_core)}};
  auto& owner = *created->core_;
  {
    std::lock_guard guard{owner.mutex_};
    owner.destroy_old_graphs();
    owner.recordings_.push_back(created.get());
  }
  TROUPE_ASSIGN(created->stream_, owner.driver_->make_stream());
  if (auto begun = owner.note(owner.driver_->begin_capture(created->stream_)); !begun) {
    owner.driver_->destroy(std::exchange(created->stream_, nullptr));
    return begun;
  }
  active_recording = created.get();
  active_core = &owner;
  return std::unique_ptr<recording>{std::move(created)};
}

result<launch_graph> core_recording::stop_capture() {
  if (!stream_)
    return failure(error_kind::internal, "no capture is active");
  active_recording = nullptr;
  active_core = nullptr;
  auto graph = core_->driver_->end_capture(stream_);
  core_->driver_->destroy(std::exchange(stream_, nullptr));
  return graph;
}

core_recording::~core_recording() {
  if (auto graph = stop_capture())
    core_->driver_->destroy(*graph); // never launched
  kept_.clear();
  inputs_.clear();
  std::unique_lock guard{core_->mutex_};
  release_blocks();
  std::erase(core_->recordings_, this);
  core_->unlock_and_release(guard);
}

result<tensor> core_recording::make_input(dtype type, const shape& dims) {
  auto bytes = static_cast<size_t>(dims.elements()) * size_of(type);
  auto* memory = allocate_unused(bytes);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", bytes, " bytes for ", type,
                   dims);
  auto* memory_buffer = new buffer{memory, bytes, core::release, core_.get(), core_.get()};
  inputs_.push_back(tensor::raw_over(memory_buffer, type, dims));
  return inputs_.back();
}

status core_recording::end() {
  auto graph = stop_capture();
  inputs_.clear();
  TROUPE_TRY(core_->note(graph.status()));
  std::lock_guard guard{core_->mutex_};
  graph_ = *graph;
  TROUPE_TRY(failed_);
  if (!std::ranges::all_of(blocks_, [](const auto& entry) { return entry.second.idle; }))
    return failure(error_kind::failed_precondition, "a tensor of the capture is still in use");
  usable_ = true;
  ++core_->replays_.recordings;
  return {};
}

status core_recording::note(status outcome) {
  if (!outcome && failed_)
    failed_ = outcome;
  return outcome;
}

bool core_recording::owns(const void* memory) const {
  std::lock_guard guard{core_->mutex_};
  return blocks_.contains(memory);
}

void* core_recording::allocate(size_t bytes) noexcept {
  {
    std::lock_guard guard{core_->mutex_};
    if (bytes <= SIZE_MAX / 4)
      if (auto newest = free_.take_newest(block_cache::class_of(bytes))) {
        blocks_.at(newest->memory).idle = false;
        return newest->memory;
      }
  }
  return allocate_unused(bytes);
}

void* core_recording::allocate_unused(size_t bytes) noexcept {
  auto* memory = core_->take(bytes, false).memory;
  if (memory) {
    std::lock_guard guard{core_->mutex_};
    blocks_[memory] = {block_cache::class_of(bytes), false};
    core_->recorded_blocks_[memory] = this;
  }
  return memory;
}

void core_recording::put_back(void* memory) noexcept {
  auto& block = blocks_.at(memory);
  block.idle = true;
  if (stream_)
    free_.put({memory, block.size, 0});
}

// Blocks in use are deallocated as usual when their tensors are released.
void core_recording::release_blocks() noexcept {
  usable_ = false;
  for (const auto& [memory, block] : blocks_) {
    core_->recorded_blocks_.erase(memory);
    if (!block.idle)
      continue;
    core_->free_.put({const_cast<void*>(memory), block.size, core_->marks_.last() + 1});
    core_->in_use_ -= block.size;
  }
  blocks_.clear();
  if (graph_)
    core_->destroy_later(std::exchange(graph_, nullptr));
}

bool core_recording::claim(std::span<output> outputs) {
  std::lock_guard guard{core_->mutex_};
  if (!usable_ || claimed_)
    return false;
  for (const auto& claimed_output : outputs)
    if (auto entry = blocks_.find(claimed_output.memory);
        entry == blocks_.end() || !entry->second.idle)
      return false;
  for (auto& claimed_output : outputs) {
    auto& block = blocks_.at(claimed_output.memory);
    block.idle = false;
    claimed_output.value = tensor::raw_over(
        new buffer{claimed_output.memory, block.size, core::release, core_.get(), core_.get()},
        claimed_output.type, claimed_output.dims);
  }
  claimed_ = true;
  return true;
}

bool core_recording::usable() const {
  std::lock_guard guard{core_->mutex_};
  return usable_;
}

void core_recording::unclaim() {
  std::lock_guard guard{core_->mutex_};
  claimed_ = false;
}

status core_recording::launch() {
  std::lock_guard guard{core_->mutex_};
  claimed_ = false;
  if (!graph_)
    return failure(error_kind::internal, "a released recording was launched");
  TROUPE_TRY(core_->note(core_->driver_->launch(graph_, core_->compute_)));
  ++core_->replays_.replays;
  return {};
}

bool is_recording(gpu_device& target) noexcept {
  const auto* target_core = dynamic_cast<const core*>(&target.memory());
  return target_core && core_recording::current(*target_core);
}

} // namespace troupe::gpu
