// The part of gpu_context that allocates memory for tensors.
#include "troupe/devices/gpu/core/gpu_context.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"

#include <algorithm>

namespace troupe::gpu {

gpu_context::allocation gpu_context::take(size_t bytes, bool for_copy) noexcept {
  if (bytes > SIZE_MAX / 4)
    return {};
  auto size = block_cache::class_of(bytes);
  std::unique_lock guard{mutex_};
  auto taken = find_block(size, for_copy);
  if (!taken.memory && release_recordings())
    taken = find_block(size, for_copy);
  if (!taken.memory)
    return {};
  ++allocations_;
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  if (!self_)
    self_ = shared_from_this();
  return taken;
}

// Takes a cached block; else memory of the reserve or of the driver; else coalesces or returns
// cached blocks of other sizes.
gpu_context::allocation gpu_context::find_block(size_t size, bool for_copy) noexcept {
  if (in_use_ + size > limit_)
    return {};
  auto passed = for_copy ? marks_.last_passed(*driver_) : UINT64_MAX;
  auto taken = for_copy ? free_.take_oldest(size, passed) : free_.take_newest(size);
  if (!taken)
    taken = reserve_.take(size, passed);
  if (!taken)
    taken = take_from_driver(size);
  if (!taken && for_copy)
    taken = free_.take_newest(size);
  if (!taken && reserve_.bytes() > 0) {
    coalesce_reserve();
    taken = reserve_.take(size);
  }
  if (!taken) {
    return_blocks();
    taken = take_from_driver(size);
  }
  if (!taken)
    return {};
  follow_copies(*taken, for_copy ? to_device_ : compute_);
  return {taken->memory, for_copy && taken->freed > passed};
}

std::optional<block> gpu_context::take_from_driver(size_t size) noexcept {
  if (from_driver_ + size > limit_)
    return {};
  auto* memory = driver_->allocate(size);
  if (!memory)
    return {};
  from_driver_ += size;
  return block{memory, size};
}

// Puts cached pieces back to the reserve. They can be reused immediately: later launches run later.
void gpu_context::coalesce_reserve() noexcept {
  std::vector<block> others;
  while (auto free_block = free_.take_any())
    if (reserve_.owns(free_block->memory))
      reserve_.put(*free_block);
    else
      others.push_back(*free_block);
  for (const auto& free_block : others)
    free_.put(free_block);
}

status gpu_context::reserve(size_t bytes) {
  if (bytes == 0)
    return {};
  if (bytes > limit_)
    return failure(error_kind::resource_exhausted, name(), " cannot reserve ", bytes,
                   " bytes: its limit is ", limit_);
  bytes = bytes / 256 * 256; // the alignment of pieces
  auto* memory = driver_->allocate(bytes);
  if (!memory)
    return failure(error_kind::resource_exhausted, name(), " cannot reserve ", bytes,
                   " bytes: the driver does not have them; reserve less, or nothing");
  std::lock_guard guard{mutex_};
  from_driver_ += bytes;
  reserve_ = reservation{memory, bytes};
  return {};
}

// Makes a stream wait for the copies that may still use a reused block.
void gpu_context::follow_copies(const block& reused, stream in) noexcept {
  if (auto pending = marks_out_.pending_event(*driver_, reused.copied_out))
    static_cast<void>(note(driver_->await(in, pending)));
  if (auto pending = marks_in_.pending_event(*driver_, reused.copied_in))
    static_cast<void>(note(driver_->await(in, pending)));
  if (auto pending = marks_exchanged_.pending_event(*driver_, reused.exchanged))
    static_cast<void>(note(driver_->await(in, pending)));
}

void* gpu_context::allocate(size_t bytes) noexcept {
  if (auto* active = graph_capture::current(*this))
    return active->allocate(bytes);
  return take(bytes, false).memory;
}

void gpu_context::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  std::unique_lock guard{mutex_};
  if (!recorded_blocks_.empty())
    if (auto entry = recorded_blocks_.find(memory); entry != recorded_blocks_.end())
      return entry->second->put_back(memory);
  block freed{memory, block_cache::class_of(bytes), marks_.last() + 1};
  if (!copied_.empty())
    if (auto entry = copied_.find(memory); entry != copied_.end()) {
      freed.copied_out = entry->second.out;
      freed.copied_in = entry->second.in;
      freed.exchanged = entry->second.exchanged;
      copied_.erase(entry);
    }
  free_.put(freed);
  in_use_ -= freed.size;
  unlock_and_release(guard);
}

// Unlocks. Destroys the context with its last tensor, if the device is gone.
void gpu_context::unlock_and_release(std::unique_lock<std::mutex>& guard) noexcept {
  std::shared_ptr<gpu_context> last;
  if (in_use_ == 0 && pinned_in_use_ == 0)
    last = std::move(self_);
  guard.unlock();
}

void* gpu_context::take_pinned(size_t bytes) noexcept {
  auto size = block_cache::class_of(bytes);
  reclaim_pinned();
  if (auto newest = free_pinned_.take_newest(size))
    return newest->memory;
  auto* memory = driver_->allocate_pinned(size);
  if (memory || free_pinned_.bytes() == 0 || loss_.may_run())
    return memory;
  while (auto wrong_size = free_pinned_.take_any()) // frees space for another size
    driver_->deallocate_pinned(wrong_size->memory);
  return driver_->allocate_pinned(size);
}

void* gpu_context::pinned_memory::allocate(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  std::lock_guard guard{owner_.mutex_};
  auto* memory = owner_.take_pinned(bytes);
  if (memory) {
    owner_.pinned_in_use_ += block_cache::class_of(bytes);
    if (!owner_.self_)
      owner_.self_ = owner_.shared_from_this();
  }
  return memory;
}

void gpu_context::pinned_memory::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  std::unique_lock guard{owner_.mutex_};
  auto size = block_cache::class_of(bytes);
  owner_.free_pinned_.put({memory, size, 0});
  owner_.pinned_in_use_ -= size;
  owner_.unlock_and_release(guard);
}

// Returns all cached blocks to the driver, which may give them to other processes at once: waits
// until all launches have run. Launches that never end keep them.
void gpu_context::return_blocks() noexcept {
  coalesce_reserve();
  if (free_.bytes() == 0 || loss_.may_run())
    return;
  if (auto ended = wait_for_launched(); !ended && ended.kind() != error_kind::unavailable)
    return;
  while (auto cached = free_.take_any()) {
    driver_->deallocate(cached->memory);
    from_driver_ -= cached->size;
  }
}

status gpu_context::wait_for_launched() {
  for (auto [marks, in] :
       {std::pair{&marks_, compute_}, std::pair{&marks_out_, to_host_},
        std::pair{&marks_in_, to_device_}, std::pair{&marks_exchanged_, exchange_}}) {
    if (!in)
      continue; // the stream was not created
    TROUPE_ASSIGN(auto end_event, marks->set(*driver_, in));
    TROUPE_TRY(wait_for(end_event));
  }
  return {};
}

void gpu_context::release_cached() noexcept {
  std::lock_guard guard{mutex_};
  release_recordings();
  return_blocks();
  if (loss_.may_run())
    return;
  reclaim_staging();
  reclaim_pinned();
  while (auto cached = free_pinned_.take_any())
    driver_->deallocate_pinned(cached->memory);
}

// Called by the device's thread after an idle interval.
void gpu_context::give_back_if_idle() noexcept {
  {
    std::lock_guard guard{mutex_};
    auto idle = allocations_ == allocations_before_;
    allocations_before_ = allocations_;
    if (!idle || (free_.bytes() == 0 && free_pinned_.bytes() == 0))
      return;
  }
  release_cached();
}

size_t gpu_context::bytes_in_use() const noexcept {
  std::lock_guard guard{mutex_};
  return in_use_;
}

// Free memory of the reserve counts as cached.
memory_statistics gpu_context::statistics() const {
  std::lock_guard guard{mutex_};
  return {.in_use = in_use_,
          .peak = peak_,
          .cached = from_driver_ - in_use_,
          .allocations = allocations_};
}

} // namespace troupe::gpu
