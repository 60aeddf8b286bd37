// Tensors that spend a while in the host's memory (runtime/device/swapping.hpp).
#include "troupe/devices/gpu/core/core.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"

namespace troupe::gpu {
namespace {

void release_swapped(buffer* memory) {
  static_cast<core*>(memory->context())->forget_swapped(memory->data());
  delete memory;
}

status while_recording() {
  return failure(error_kind::failed_precondition, "what is swapped cannot be noted down");
}

} // namespace

result<tensor> core::swap_out(const tensor& from) {
  if (core_recording::current(*this))
    return while_recording();
  TROUPE_TRY(health());
  if (from.bytes() == 0 || from.space() != this || !from.unique())
    return from;
  std::lock_guard guard{mutex_};
  if (recorded_blocks_.contains(from.raw()))
    return from;
  block pinned{take_pinned(from.bytes()), block_cache::class_of(from.bytes())};
  if (!pinned.memory)
    return from;
  auto launched = [&]() -> status {
    TROUPE_ASSIGN(auto here, marks_.set(*driver_, compute_));
    TROUPE_TRY(driver_->await(to_host_, here));
    TROUPE_TRY(
        driver_->copy(pinned.memory, from.raw(), from.bytes(), direction::to_host, to_host_));
    return marks_out_.set(*driver_, to_host_).status();
  }();
  if (!launched) {
    free_pinned_.put(pinned); // nothing runs any more
    return note(std::move(launched));
  }
  pinned.copied_out = marks_out_.last();
  copied_[from.raw()] = {.out = pinned.copied_out};
  swapped_[pinned.memory] = {pinned, from.type(), from.dims(), from.bytes()};
  swaps_.out += from.bytes();
  swaps_.held += from.bytes();
  pinned_in_use_ += pinned.size;
  if (!self_)
    self_ = shared_from_this();
  return tensor::raw_over(new buffer{pinned.memory, 0, release_swapped, this, this}, from.type(),
                          shape{0});
}

result<tensor> core::swap_in(const tensor& saved, allocator& memory) {
  if (core_recording::current(*this))
    return while_recording();
  TROUPE_TRY(health());
  swapped what;
  {
    std::lock_guard guard{mutex_};
    auto it = swapped_.find(saved.raw());
    if (it == swapped_.end())
      return saved; // it had stayed where it was
    what = it->second;
  }
  TROUPE_ASSIGN(auto pending, tensor::make(what.type, what.dims, memory));
  std::lock_guard guard{mutex_};
  auto launched = [&]() -> status {
    TROUPE_ASSIGN(auto here, marks_.set(*driver_, compute_)); // whoever had the block before
    TROUPE_TRY(driver_->await(to_device_, here));
    follow_copies(what.at, to_device_);
    TROUPE_TRY(
        driver_->copy(pending.raw(), what.at.memory, what.bytes, direction::to_device, to_device_));
    return marks_in_.set(*driver_, to_device_).status();
  }();
  if (!launched)
    return note(std::move(launched));
  copied_[pending.raw()] = {.in = marks_in_.last()};
  swapped_.at(saved.raw()).at.copied_in = marks_in_.last();
  swaps_.in += what.bytes;
  return pending;
}

status core::wait_for(const tensor& pending) {
  if (core_recording::current(*this))
    return while_recording();
  std::lock_guard guard{mutex_};
  auto it = copied_.find(pending.raw());
  if (it == copied_.end() || (it->second.in == 0 && it->second.exchanged == 0))
    return {};
  if (auto at = marks_in_.ahead(*driver_, it->second.in))
    TROUPE_TRY(note(driver_->await(compute_, at)));
  if (auto at = marks_exchanged_.ahead(*driver_, it->second.exchanged))
    TROUPE_TRY(note(driver_->await(compute_, at)));
  copied_.erase(it);
  return {};
}

swap_statistics core::swaps() const {
  std::lock_guard guard{mutex_};
  return swaps_;
}

// The copies may not have run yet.
void core::forget_swapped(void* pinned) noexcept {
  std::unique_lock guard{mutex_};
  auto it = swapped_.find(pinned);
  auto what = it->second.at;
  swaps_.held -= it->second.bytes;
  swapped_.erase(it);
  cooling_.push_back(what);
  pinned_in_use_ -= what.size;
  let_go(guard);
}

void core::cool_pinned() noexcept {
  while (!cooling_.empty()) {
    auto& oldest = cooling_.front();
    if (marks_out_.ahead(*driver_, oldest.copied_out) ||
        marks_in_.ahead(*driver_, oldest.copied_in))
      return;
    free_pinned_.put({oldest.memory, oldest.size});
    cooling_.pop_front();
  }
}

} // namespace troupe::gpu
