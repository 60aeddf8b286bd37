#include "troupe/devices/gpu/core/graph_capture.hpp"

#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

thread_local core_recording* made_here = nullptr;
thread_local const core* made_on = nullptr;

} // namespace

core_recording* core_recording::current(const core& in) noexcept {
  return made_on == &in ? made_here : nullptr;
}

result<std::unique_ptr<recording>> core_recording::begin(std::shared_ptr<core> in) {
  TROUPE_TRY(in->health());
  if (made_here)
    return failure(error_kind::internal, "this thread makes a recording already");
  std::unique_ptr<core_recording> made{new core_recording{std::move(in)}};
  auto& on = *made->core_;
  {
    std::lock_guard guard{on.mutex_};
    on.destroy_old_graphs();
    on.recordings_.push_back(made.get());
  }
  TROUPE_ASSIGN(made->into_, on.driver_->make_stream());
  if (auto begun = on.note(on.driver_->begin_capture(made->into_)); !begun) {
    on.driver_->destroy(std::exchange(made->into_, nullptr));
    return begun;
  }
  made_here = made.get();
  made_on = &on;
  return std::unique_ptr<recording>{std::move(made)};
}

result<launch_graph> core_recording::stop_noting() {
  if (!into_)
    return failure(error_kind::internal, "nothing is noted down");
  made_here = nullptr;
  made_on = nullptr;
  auto graph = core_->driver_->end_capture(into_);
  core_->driver_->destroy(std::exchange(into_, nullptr));
  return graph;
}

core_recording::~core_recording() {
  if (auto graph = stop_noting())
    core_->driver_->destroy(*graph); // it never ran
  kept_.clear();
  inputs_.clear();
  std::unique_lock guard{core_->mutex_};
  give_blocks_back();
  std::erase(core_->recordings_, this);
  core_->let_go(guard);
}

result<tensor> core_recording::make_input(dtype type, const shape& dims) {
  auto bytes = static_cast<size_t>(dims.elements()) * size_of(type);
  auto* memory = allocate_unused(bytes);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", bytes, " bytes for ", type,
                   dims);
  auto* made = new buffer{memory, bytes, core::release, core_.get(), core_.get()};
  inputs_.push_back(tensor::raw_over(made, type, dims));
  return inputs_.back();
}

status core_recording::end() {
  auto graph = stop_noting();
  inputs_.clear();
  TROUPE_TRY(core_->note(graph.status()));
  std::lock_guard guard{core_->mutex_};
  graph_ = *graph;
  TROUPE_TRY(failed_);
  if (!std::ranges::all_of(blocks_, [](const auto& one) { return one.second.idle; }))
    return failure(error_kind::failed_precondition, "somebody keeps what a recording has made");
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
      if (auto last = free_.take_newest(block_cache::class_of(bytes))) {
        blocks_.at(last->memory).idle = false;
        return last->memory;
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
  if (into_)
    free_.put({memory, block.size, 0});
}

// Those that are held go the usual way when they are let go of.
void core_recording::give_blocks_back() noexcept {
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
  for (const auto& one : outputs)
    if (auto it = blocks_.find(one.memory); it == blocks_.end() || !it->second.idle)
      return false;
  for (auto& one : outputs) {
    auto& block = blocks_.at(one.memory);
    block.idle = false;
    one.value = tensor::raw_over(
        new buffer{one.memory, block.size, core::release, core_.get(), core_.get()}, one.type,
        one.dims);
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
    return failure(error_kind::internal, "a recording was launched that is of no use");
  TROUPE_TRY(core_->note(core_->driver_->launch(graph_, core_->compute_)));
  ++core_->replays_.replays;
  return {};
}

bool is_recording(gpu_device& on) noexcept {
  const auto* of = dynamic_cast<const core*>(&on.memory());
  return of && core_recording::current(*of);
}

} // namespace troupe::gpu
