// What a GPU's device gives tensors, and where it takes it from.
#include "troupe/devices/gpu/core/core.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"

#include <algorithm>

namespace troupe::gpu {

core::taken core::take(size_t bytes, bool for_copy) noexcept {
  if (bytes > SIZE_MAX / 4)
    return {};
  auto size = block_cache::class_of(bytes);
  std::unique_lock guard{mutex_};
  auto found = find_block(size, for_copy);
  if (!found.memory && take_recordings_back())
    found = find_block(size, for_copy);
  if (!found.memory)
    return {};
  ++allocations_;
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  if (!self_)
    self_ = shared_from_this();
  return found;
}

// From what is at hand; else from the reserve or the driver; else from what is at hand in other
// sizes.
core::taken core::find_block(size_t size, bool for_copy) noexcept {
  if (in_use_ + size > limit_)
    return {};
  auto behind = for_copy ? marks_.passed(*driver_) : UINT64_MAX;
  auto found = for_copy ? free_.take_oldest(size, behind) : free_.take_newest(size);
  if (!found)
    found = reserve_.take(size, behind);
  if (!found)
    found = take_from_driver(size);
  if (!found && for_copy)
    found = free_.take_newest(size);
  if (!found && reserve_.bytes() > 0) {
    join_pieces();
    found = reserve_.take(size);
  }
  if (!found) {
    return_blocks();
    found = take_from_driver(size);
  }
  if (!found)
    return {};
  follow_copies(*found, for_copy ? to_device_ : compute_);
  return {found->memory, for_copy && found->freed > behind};
}

std::optional<block> core::take_from_driver(size_t size) noexcept {
  if (from_driver_ + size > limit_)
    return {};
  auto* memory = driver_->allocate(size);
  if (!memory)
    return {};
  from_driver_ += size;
  return block{memory, size};
}

// What was cut from the reserve goes back to it at once: whoever gets it next is launched later.
void core::join_pieces() noexcept {
  std::vector<block> others;
  while (auto one = free_.take_any())
    if (reserve_.owns(one->memory))
      reserve_.put(*one);
    else
      others.push_back(*one);
  for (const auto& one : others)
    free_.put(one);
}

status core::reserve(size_t bytes) {
  if (bytes == 0)
    return {};
  if (bytes > limit_)
    return failure(error_kind::resource_exhausted, name(), " cannot reserve ", bytes,
                   " bytes: its limit is ", limit_);
  bytes = bytes / 256 * 256; // pieces are aligned to that
  auto* memory = driver_->allocate(bytes);
  if (!memory)
    return failure(error_kind::resource_exhausted, name(), " cannot reserve ", bytes,
                   " bytes: the driver does not have them; reserve less, or nothing");
  std::lock_guard guard{mutex_};
  from_driver_ += bytes;
  reserve_ = reservation{memory, bytes};
  return {};
}

// Copies beside the line may still use a block that a tensor gave back.
void core::follow_copies(const block& what, stream in) noexcept {
  if (auto at = marks_out_.ahead(*driver_, what.copied_out))
    static_cast<void>(note(driver_->await(in, at)));
  if (auto at = marks_in_.ahead(*driver_, what.copied_in))
    static_cast<void>(note(driver_->await(in, at)));
  if (auto at = marks_exchanged_.ahead(*driver_, what.exchanged))
    static_cast<void>(note(driver_->await(in, at)));
}

void* core::allocate(size_t bytes) noexcept {
  if (auto* making = core_recording::current(*this))
    return making->allocate(bytes);
  return take(bytes, false).memory;
}

void core::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  std::unique_lock guard{mutex_};
  if (!recorded_blocks_.empty())
    if (auto it = recorded_blocks_.find(memory); it != recorded_blocks_.end())
      return it->second->put_back(memory);
  block what{memory, block_cache::class_of(bytes), marks_.last() + 1};
  if (!copied_.empty())
    if (auto it = copied_.find(memory); it != copied_.end()) {
      what.copied_out = it->second.out;
      what.copied_in = it->second.in;
      what.exchanged = it->second.exchanged;
      copied_.erase(it);
    }
  free_.put(what);
  in_use_ -= what.size;
  let_go(guard);
}

// The last tensor takes the core with it, where the device is gone.
void core::let_go(std::unique_lock<std::mutex>& guard) noexcept {
  std::shared_ptr<core> last;
  if (in_use_ == 0 && pinned_in_use_ == 0)
    last = std::move(self_);
  guard.unlock();
}

void* core::take_pinned(size_t bytes) noexcept {
  auto size = block_cache::class_of(bytes);
  cool_pinned();
  if (auto last = free_pinned_.take_newest(size))
    return last->memory;
  auto* made = driver_->allocate_pinned(size);
  if (made || free_pinned_.bytes() == 0)
    return made;
  while (auto one = free_pinned_.take_any()) // they have the wrong size, but take room
    driver_->deallocate_pinned(one->memory);
  return driver_->allocate_pinned(size);
}

void* core::pinned_memory::allocate(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  std::lock_guard guard{of_.mutex_};
  auto* memory = of_.take_pinned(bytes);
  if (memory) {
    of_.pinned_in_use_ += block_cache::class_of(bytes);
    if (!of_.self_)
      of_.self_ = of_.shared_from_this();
  }
  return memory;
}

void core::pinned_memory::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  std::unique_lock guard{of_.mutex_};
  auto size = block_cache::class_of(bytes);
  of_.free_pinned_.put({memory, size, 0});
  of_.pinned_in_use_ -= size;
  of_.let_go(guard);
}

// Gives all cached blocks back to the driver, which may hand them to others at once: what was
// launched must have run.
void core::return_blocks() noexcept {
  join_pieces();
  if (free_.bytes() == 0)
    return;
  if (auto ended = wait_for_launched(); !ended && ended.kind() != error_kind::unavailable)
    return;
  while (auto one = free_.take_any()) {
    driver_->deallocate(one->memory);
    from_driver_ -= one->size;
  }
}

status core::wait_for_launched() {
  for (auto [marks, in] :
       {std::pair{&marks_, compute_}, std::pair{&marks_out_, to_host_},
        std::pair{&marks_in_, to_device_}, std::pair{&marks_exchanged_, exchange_}}) {
    if (!in)
      continue; // it could not be made
    TROUPE_ASSIGN(auto here, marks->set(*driver_, in));
    TROUPE_TRY(wait_for(here));
  }
  return {};
}

void core::release_cached() noexcept {
  std::lock_guard guard{mutex_};
  take_recordings_back();
  return_blocks();
  reclaim_staging();
  cool_pinned();
  while (auto one = free_pinned_.take_any())
    driver_->deallocate_pinned(one->memory);
}

// Called by the device's thread when nothing has ended for a while.
void core::give_back_if_idle() noexcept {
  {
    std::lock_guard guard{mutex_};
    auto idle = allocations_ == allocations_before_;
    allocations_before_ = allocations_;
    if (!idle || (free_.bytes() == 0 && free_pinned_.bytes() == 0))
      return;
  }
  release_cached();
}

size_t core::bytes_in_use() const noexcept {
  std::lock_guard guard{mutex_};
  return in_use_;
}

// What lies idle in the reserve counts as kept for the next tensors.
memory_statistics core::statistics() const {
  std::lock_guard guard{mutex_};
  return {.in_use = in_use_,
          .peak = peak_,
          .cached = from_driver_ - in_use_,
          .allocations = allocations_};
}

} // namespace troupe::gpu
