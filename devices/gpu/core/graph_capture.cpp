#include "troupe/devices/gpu/core/graph_capture.hpp"

#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

thread_local graph_capture* active_recording = nullptr;
thread_local const gpu_context* active_core = nullptr;

} // namespace

graph_capture* graph_capture::current(const gpu_context& recorded_context) noexcept {
  return active_core == &recorded_context ? active_recording : nullptr;
}

result<std::unique_ptr<recording>>
graph_capture::begin(std::shared_ptr<gpu_context> recorded_context) {
  TROUPE_TRY(recorded_context->health());
  if (active_recording)
    return failure(error_kind::internal, "this thread captures already");
  std::unique_ptr<graph_capture> created{new graph_capture{std::move(recorded_context)}};
  auto& owner = *created->context_;
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

result<launch_graph> graph_capture::stop_capture() {
  if (!stream_)
    return failure(error_kind::internal, "no capture is active");
  active_recording = nullptr;
  active_core = nullptr;
  auto graph = context_->driver_->end_capture(stream_);
  context_->driver_->destroy(std::exchange(stream_, nullptr));
  return graph;
}

graph_capture::~graph_capture() {
  if (auto graph = stop_capture())
    context_->driver_->destroy(*graph); // never launched
  kept_.clear();
  inputs_.clear();
  std::unique_lock guard{context_->mutex_};
  release_blocks();
  std::erase(context_->recordings_, this);
  context_->unlock_and_release(guard);
}

result<tensor> graph_capture::make_input(dtype type, const shape& dims) {
  auto bytes = static_cast<size_t>(dims.elements()) * size_of(type);
  auto* memory = allocate_unused(bytes);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", bytes, " bytes for ", type,
                   dims);
  auto* memory_buffer =
      new buffer{memory, bytes, gpu_context::release, context_.get(), context_.get()};
  inputs_.push_back(tensor::from_buffer_unchecked(memory_buffer, type, dims));
  return inputs_.back();
}

status graph_capture::end() {
  auto graph = stop_capture();
  inputs_.clear();
  TROUPE_TRY(context_->note(graph.status()));
  std::lock_guard guard{context_->mutex_};
  graph_ = *graph;
  TROUPE_TRY(failed_);
  if (!std::ranges::all_of(blocks_, [](const auto& entry) { return entry.second.idle; }))
    return failure(error_kind::failed_precondition, "a tensor of the capture is still in use");
  usable_ = true;
  ++context_->replays_.recordings;
  return {};
}

status graph_capture::note(status outcome) {
  if (!outcome && failed_)
    failed_ = outcome;
  return outcome;
}

bool graph_capture::owns(const void* memory) const {
  std::lock_guard guard{context_->mutex_};
  return blocks_.contains(memory);
}

void* graph_capture::allocate(size_t bytes) noexcept {
  {
    std::lock_guard guard{context_->mutex_};
    if (bytes <= SIZE_MAX / 4)
      if (auto newest = free_.take_newest(block_cache::class_of(bytes))) {
        blocks_.at(newest->memory).idle = false;
        return newest->memory;
      }
  }
  return allocate_unused(bytes);
}

void* graph_capture::allocate_unused(size_t bytes) noexcept {
  auto* memory = context_->take(bytes, false).memory;
  if (memory) {
    std::lock_guard guard{context_->mutex_};
    blocks_[memory] = {block_cache::class_of(bytes), false};
    context_->recorded_blocks_[memory] = this;
  }
  return memory;
}

void graph_capture::put_back(void* memory) noexcept {
  auto& block = blocks_.at(memory);
  block.idle = true;
  if (stream_)
    free_.put({memory, block.size, 0});
}

// Blocks in use are deallocated as usual when their tensors are released.
void graph_capture::release_blocks() noexcept {
  usable_ = false;
  for (const auto& [memory, block] : blocks_) {
    context_->recorded_blocks_.erase(memory);
    if (!block.idle)
      continue;
    context_->free_.put({const_cast<void*>(memory), block.size, context_->marks_.last() + 1});
    context_->in_use_ -= block.size;
  }
  blocks_.clear();
  if (graph_)
    context_->destroy_later(std::exchange(graph_, nullptr));
}

bool graph_capture::prepare_launch(std::span<output> outputs) {
  std::lock_guard guard{context_->mutex_};
  if (!usable_ || claimed_)
    return false;
  for (const auto& claimed_output : outputs)
    if (auto entry = blocks_.find(claimed_output.memory);
        entry == blocks_.end() || !entry->second.idle)
      return false;
  for (auto& claimed_output : outputs) {
    auto& block = blocks_.at(claimed_output.memory);
    block.idle = false;
    claimed_output.value = tensor::from_buffer_unchecked(
        new buffer{claimed_output.memory, block.size, gpu_context::release, context_.get(),
                   context_.get()},
        claimed_output.type, claimed_output.dims);
  }
  claimed_ = true;
  return true;
}

bool graph_capture::usable() const {
  std::lock_guard guard{context_->mutex_};
  return usable_;
}

void graph_capture::cancel_launch() {
  std::lock_guard guard{context_->mutex_};
  claimed_ = false;
}

status graph_capture::launch() {
  std::lock_guard guard{context_->mutex_};
  claimed_ = false;
  if (!graph_)
    return failure(error_kind::internal, "a released recording was launched");
  TROUPE_TRY(context_->note(context_->driver_->launch(graph_, context_->compute_)));
  ++context_->replays_.replays;
  return {};
}

bool is_recording(gpu_device& target) noexcept {
  const auto* target_core = dynamic_cast<const gpu_context*>(&target.memory());
  return target_core && graph_capture::current(*target_core);
}

} // namespace troupe::gpu
