// The part of gpu_context that swaps tensors to the host's memory
// (runtime/device/swap_support.hpp).
#include "troupe/devices/gpu/core/gpu_context.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"

namespace troupe::gpu {
namespace {

void release_swapped(buffer* memory) {
  static_cast<gpu_context*>(memory->context())->forget_swapped(memory->data());
  delete memory;
}

status fail_while_recording() {
  return failure(error_kind::failed_precondition, "swapping cannot be captured");
}

} // namespace

result<tensor> gpu_context::swap_out(const tensor& source) {
  if (graph_capture::current(*this))
    return fail_while_recording();
  TROUPE_TRY(health());
  if (source.bytes() == 0 || source.space() != this || !source.unique())
    return source;
  std::lock_guard guard{mutex_};
  if (recorded_blocks_.contains(source.raw()))
    return source;
  block pinned{take_pinned(source.bytes()), block_cache::class_of(source.bytes())};
  if (!pinned.memory)
    return source;
  auto launched = [&]() -> status {
    TROUPE_ASSIGN(auto position, marks_.set(*driver_, compute_));
    TROUPE_TRY(driver_->await(to_host_, position));
    TROUPE_TRY(
        driver_->copy(pinned.memory, source.raw(), source.bytes(), direction::to_host, to_host_));
    return marks_out_.set(*driver_, to_host_).status();
  }();
  if (!launched) {
    free_pinned_.put(pinned); // a lost device runs no copy
    return note(std::move(launched));
  }
  pinned.copied_out = marks_out_.last();
  copied_[source.raw()] = {.out = pinned.copied_out};
  swapped_[pinned.memory] = {pinned, source.type(), source.dims(), source.bytes()};
  swaps_.bytes_out += source.bytes();
  swaps_.bytes_on_host += source.bytes();
  pinned_in_use_ += pinned.size;
  if (!self_)
    self_ = shared_from_this();
  return tensor::from_buffer_unchecked(new buffer{pinned.memory, 0, release_swapped, this, this},
                                       source.type(), shape{0});
}

result<tensor> gpu_context::swap_in(const tensor& saved, allocator& memory) {
  if (graph_capture::current(*this))
    return fail_while_recording();
  TROUPE_TRY(health());
  swapped saved_tensor;
  {
    std::lock_guard guard{mutex_};
    auto entry = swapped_.find(saved.raw());
    if (entry == swapped_.end())
      return saved; // swap_out() had returned the tensor itself
    saved_tensor = entry->second;
  }
  TROUPE_ASSIGN(auto pending, tensor::make(saved_tensor.type, saved_tensor.dims, memory));
  std::lock_guard guard{mutex_};
  auto launched = [&]() -> status {
    TROUPE_ASSIGN(auto position, marks_.set(*driver_, compute_)); // the earlier use of the block
    TROUPE_TRY(driver_->await(to_device_, position));
    follow_copies(saved_tensor.pinned, to_device_);
    TROUPE_TRY(driver_->copy(pending.raw(), saved_tensor.pinned.memory, saved_tensor.bytes,
                             direction::to_device, to_device_));
    return marks_in_.set(*driver_, to_device_).status();
  }();
  if (!launched)
    return note(std::move(launched));
  copied_[pending.raw()] = {.in = marks_in_.last()};
  swapped_.at(saved.raw()).pinned.copied_in = marks_in_.last();
  swaps_.bytes_in += saved_tensor.bytes;
  return pending;
}

status gpu_context::wait_for(const tensor& pending) {
  if (graph_capture::current(*this))
    return fail_while_recording();
  std::lock_guard guard{mutex_};
  auto entry = copied_.find(pending.raw());
  if (entry == copied_.end() || (entry->second.in == 0 && entry->second.exchanged == 0))
    return {};
  if (auto mark_event = marks_in_.pending_event(*driver_, entry->second.in))
    TROUPE_TRY(note(driver_->await(compute_, mark_event)));
  if (auto mark_event = marks_exchanged_.pending_event(*driver_, entry->second.exchanged))
    TROUPE_TRY(note(driver_->await(compute_, mark_event)));
  copied_.erase(entry);
  return {};
}

swap_statistics gpu_context::swaps() const {
  std::lock_guard guard{mutex_};
  return swaps_;
}

// The pinned block may still be in use by copies.
void gpu_context::forget_swapped(void* pinned) noexcept {
  std::unique_lock guard{mutex_};
  auto entry = swapped_.find(pinned);
  auto freed = entry->second.pinned;
  swaps_.bytes_on_host -= entry->second.bytes;
  swapped_.erase(entry);
  pinned_in_copies_.push_back(freed);
  pinned_in_use_ -= freed.size;
  unlock_and_release(guard);
}

void gpu_context::reclaim_pinned() noexcept {
  while (!pinned_in_copies_.empty()) {
    auto& oldest = pinned_in_copies_.front();
    if (marks_out_.pending_event(*driver_, oldest.copied_out) ||
        marks_in_.pending_event(*driver_, oldest.copied_in))
      return;
    free_pinned_.put({oldest.memory, oldest.size});
    pinned_in_copies_.pop_front();
  }
}

} // namespace troupe::gpu
