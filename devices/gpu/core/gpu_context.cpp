#include "troupe/devices/gpu/core/gpu_context.hpp"

#include "troupe/devices/gpu/core/graph_capture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe::gpu {

void gpu_context::release(buffer* memory) {
  static_cast<gpu_context*>(memory->context())->deallocate(memory->data(), memory->bytes());
  delete memory;
}

result<std::shared_ptr<gpu_context>> gpu_context::make(std::unique_ptr<driver> gpu_driver,
                                                       int ordinal, const memory_options& memory,
                                                       std::chrono::milliseconds watchdog) {
  auto total = gpu_driver->gpu_properties().total_memory;
  auto limit = memory.limit ? std::min(memory.limit, total) : total / 10 * 9;
  std::shared_ptr<gpu_context> created{
      new gpu_context{std::move(gpu_driver), ordinal, limit, memory.give_back_after, watchdog}};
  TROUPE_TRY(created->start());
  TROUPE_TRY(created->reserve(memory.reserve));
  return created;
}

status gpu_context::start() {
  for (auto* owned : {&compute_, &to_device_, &to_host_, &exchange_}) {
    TROUPE_ASSIGN(*owned, driver_->make_stream());
  }
  thread_ = std::thread{[keep = shared_from_this()] { keep->run_completions(); }};
  return {};
}

gpu_context::~gpu_context() {
  stop();
  for (const auto& owned : staging_) {
    static_cast<void>(wait_for(owned.copied)); // a lost device never passes the event
    driver_->destroy(owned.copied);
    driver_->deallocate_pinned(owned.memory.memory);
  }
  if (!health()) // on a lost device, only destroying the streams ends running launches
    destroy_streams();
  return_blocks();
  driver_->deallocate(reserve_.memory());
  for (const auto& owned : pinned_in_copies_)
    driver_->deallocate_pinned(owned.memory);
  while (auto owned = free_pinned_.take_any())
    driver_->deallocate_pinned(owned->memory);
  for (const auto& owned : old_graphs_)
    driver_->destroy(owned.graph);
  for (auto* marks : {&marks_, &marks_out_, &marks_in_, &marks_exchanged_})
    marks->destroy(*driver_);
  for (auto owned : events_)
    driver_->destroy(owned);
  destroy_streams();
}

void gpu_context::destroy_streams() noexcept {
  for (auto* owned : {&compute_, &to_device_, &to_host_, &exchange_})
    if (*owned)
      driver_->destroy(std::exchange(*owned, nullptr));
}

bool gpu_context::stop() {
  completions_.stop();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach(); // a callback destroyed the device: the thread ends by itself
  else if (thread_.joinable())
    thread_.join();
  // Launches may use objects that only the device keeps alive.
  std::lock_guard guard{mutex_};
  if (!compute_)
    return true;
  auto ended = wait_for_launched();
  return ended || !loss_.may_run() || ended.kind() == error_kind::unavailable;
}

status gpu_context::health() const { return loss_.reason(); }

// Records the loss of the device if the driver reports it. Returns the outcome.
status gpu_context::note(status outcome) const {
  if (outcome || outcome.kind() != error_kind::unavailable)
    return outcome;
  return lose(outcome.message(), loss_record::cause::driver);
}

// Returns the reason of the loss, which may be an earlier one. The caller may hold mutex_.
status gpu_context::lose(const std::string& why, loss_record::cause noticed_by) const {
  if (loss_.record(failure(error_kind::unavailable, name(), " is lost: ", why,
                           "; its contents are lost, other devices continue"),
                   noticed_by))
    completions_.wake();
  return loss_.reason();
}

void gpu_context::on_lost(std::function<void(const status&)> act) {
  if (loss_.add(std::move(act)))
    completions_.wake();
}

status gpu_context::probe() {
  TROUPE_TRY(health());
  auto outcome = [&]() -> status {
    std::lock_guard guard{mutex_};
    TROUPE_ASSIGN(auto end_event, end_of(compute_));
    events_.push_back(end_event);
    return {};
  }();
  return note(std::move(outcome));
}

// Keeps an error for callers that ignore the outcome of a copy: the completion of their step
// reports it. The loss of the device is reported anyway.
status gpu_context::remember(status outcome) const {
  auto noted = note(std::move(outcome));
  if (auto* active = graph_capture::current(*this))
    return active->note(std::move(noted)); // a capture launches nothing
  if (!noted && noted.kind() != error_kind::unavailable) {
    auto& errors = driver_->device_errors();
    errors.add(errors.for_launch().epoch, noted);
  }
  return noted;
}

status gpu_context::copy(void* target, const void* source, size_t bytes) const noexcept {
  if (bytes == 0)
    return {};
  return remember(driver_->copy(target, source, bytes, direction::within, compute()));
}

status gpu_context::copy(const strided_copy& described) const noexcept {
  for (int i = 0; i < described.rank; ++i)
    if (described.loops[static_cast<size_t>(i)].extent == 0)
      return {};
  return remember(driver_->copy(described, compute()));
}

status gpu_context::fill(void* target, const void* element, size_t element_bytes,
                         int64_t count) const noexcept {
  if (count == 0)
    return {};
  return remember(driver_->fill(target, element, element_bytes, count, compute()));
}

// -- captures ------------------------------------------------------------------------------------

stream gpu_context::compute() const noexcept {
  auto* active = graph_capture::current(*this);
  return active ? active->into() : compute_;
}

device_error_flags::place gpu_context::device_errors() const noexcept {
  const auto& flags = driver_->device_errors();
  return graph_capture::current(*this) ? flags.for_replay() : flags.for_launch();
}

result<std::unique_ptr<recording>> gpu_context::record() {
  return graph_capture::begin(shared_from_this());
}

replay_statistics gpu_context::replays() const {
  std::lock_guard guard{mutex_};
  return replays_;
}

// Releases the memory of recordings that are not being launched; they are captured again if it is
// worth it. Not called while this thread captures, or two recordings would evict each other.
bool gpu_context::release_recordings() noexcept {
  if (graph_capture::current(*this))
    return false;
  bool has_released = false;
  for (auto* idle_recording : recordings_)
    if (idle_recording->usable_ && !idle_recording->claimed_) {
      idle_recording->release_blocks();
      has_released = true;
    }
  return has_released;
}

void gpu_context::destroy_later(launch_graph graph) noexcept {
  static_cast<void>(marks_.set(*driver_, compute_)); // a lost device runs no graph
  old_graphs_.push_back({marks_.last(), graph});
  destroy_old_graphs();
}

void gpu_context::destroy_old_graphs() noexcept {
  if (old_graphs_.empty())
    return;
  auto passed = marks_.last_passed(*driver_);
  while (!old_graphs_.empty() && old_graphs_.front().mark <= passed) {
    driver_->destroy(old_graphs_.front().graph);
    old_graphs_.pop_front();
  }
}

// -- copies --------------------------------------------------------------------------------------

result<event> gpu_context::take_event() {
  if (events_.empty())
    return driver_->make_event();
  auto last = events_.back();
  events_.pop_back();
  return last;
}

// Records an event at the stream's end.
result<event> gpu_context::end_of(stream in) {
  TROUPE_ASSIGN(auto end_event, take_event());
  if (auto recorded = driver_->record(end_event, in); !recorded) {
    events_.push_back(end_event);
    return recorded;
  }
  return end_event;
}

result<tensor> gpu_context::upload(const tensor& source, device& host) {
  TROUPE_TRY(health());
  if (source.type() >= dtype::string)
    return invalid(source.type(), "s cannot be taken to ", name());
  auto [memory, must_wait] = take(source.bytes(), true);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", source.bytes(), " bytes for ",
                   source.type(), source.dims());
  auto uploaded = tensor::from_buffer_unchecked(
      new buffer{memory, source.bytes(), release, this, this}, source.type(), source.dims());
  if (source.bytes() > 0)
    TROUPE_TRY(note(launch_upload(memory, source, must_wait, host)));
  if (auto* active = graph_capture::current(*this))
    active->keep(uploaded); // replays use the same tensor
  return uploaded;
}

// Stages the elements in pinned memory, in pieces, by several threads if they are many. A piece is
// copied to the device while the next one is staged. The compute stream continues after the copy.
status gpu_context::launch_upload(void* target, const tensor& source_tensor, bool must_wait,
                                  device& host) {
  constexpr size_t piece_bytes = size_t{4} << 20;
  constexpr double nanoseconds_per_byte = 0.1;
  block staged{nullptr, block_cache::class_of(source_tensor.bytes()), 0};
  {
    std::lock_guard guard{mutex_};
    reclaim_staging();
    staged.memory = take_pinned(source_tensor.bytes());
  }
  if (!staged.memory)
    return failure(error_kind::resource_exhausted, "out of pinned memory: ", source_tensor.bytes(),
                   " bytes for ", source_tensor.type(), source_tensor.dims(), " on its way to ",
                   name());
  auto* source = static_cast<const char*>(source_tensor.raw());
  auto* staging_bytes = static_cast<char*>(staged.memory);
  status launched;
  for (size_t offset = 0; offset < source_tensor.bytes() && launched; offset += piece_bytes) {
    auto bytes = std::min(piece_bytes, source_tensor.bytes() - offset);
    host.parallel_for(static_cast<int64_t>(bytes), nanoseconds_per_byte,
                      [&](int64_t begin, int64_t end) {
                        std::memcpy(staging_bytes + offset + begin, source + offset + begin,
                                    static_cast<size_t>(end - begin));
                      });
    std::lock_guard guard{mutex_};
    if (must_wait && offset == 0) {
      auto position = marks_.set(*driver_, compute_);
      launched = position ? driver_->await(to_device_, *position) : position.status();
    }
    if (launched)
      launched = driver_->copy(static_cast<char*>(target) + offset, staging_bytes + offset, bytes,
                               direction::to_device, to_device_);
  }
  std::lock_guard guard{mutex_};
  auto copied = end_of(to_device_);
  if (!copied) {
    free_pinned_.put(staged); // a lost device runs no copy
    return launched ? copied.status() : launched;
  }
  staging_.push_back({*copied, staged});
  TROUPE_TRY(std::move(launched));
  copies_.uploaded += source_tensor.bytes();
  return driver_->await(compute_, *copied);
}

void gpu_context::reclaim_staging() {
  while (!staging_.empty()) {
    auto passed = driver_->passed(staging_.front().copied);
    if (!passed || !*passed)
      return;
    events_.push_back(staging_.front().copied);
    free_pinned_.put(staging_.front().memory);
    staging_.pop_front();
  }
}

// The peer may release the tensor early: this device holds it until it has been read.
result<tensor> gpu_context::copy_from_peer(const tensor& source) {
  TROUPE_TRY(health());
  auto* peer = const_cast<gpu_context*>(dynamic_cast<const gpu_context*>(source.space()));
  if (!peer || peer == this)
    return failure(error_kind::unimplemented, name(), " takes tensors from other GPUs only");
  auto [memory, must_wait] = take(source.bytes(), true);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", source.bytes(), " bytes for ",
                   source.type(), source.dims(), " from ", peer->name());
  auto copy = tensor::from_buffer_unchecked(new buffer{memory, source.bytes(), release, this, this},
                                            source.type(), source.dims());
  if (source.bytes() == 0)
    return copy;
  TROUPE_ASSIGN(auto peer_event, peer->end_of_compute());
  auto launched = note(launch_peer_copy(memory, *peer, peer_event, source, must_wait));
  {
    std::lock_guard guard{peer->mutex_};
    peer->events_.push_back(peer_event); // streams that wait keep the recorded position
  }
  TROUPE_TRY(std::move(launched));
  return copy;
}

// Records an event after all earlier launches.
result<event> gpu_context::end_of_compute() {
  auto end_event = [&] {
    std::lock_guard guard{mutex_};
    return end_of(compute_);
  }();
  if (!end_event)
    return note(end_event.status());
  return end_event;
}

status gpu_context::launch_peer_copy(void* target, gpu_context& peer, event peer_event,
                                     const tensor& source, bool must_wait) {
  std::lock_guard guard{mutex_};
  TROUPE_TRY(driver_->await(to_device_, peer_event));
  if (must_wait) {
    TROUPE_ASSIGN(auto position, marks_.set(*driver_, compute_));
    TROUPE_TRY(driver_->await(to_device_, position));
  }
  TROUPE_TRY(driver_->copy_from(*peer.driver_, target, source.raw(), source.bytes(), to_device_));
  copies_.copied_from_devices += source.bytes();
  TROUPE_ASSIGN(auto copied, end_of(to_device_));
  auto awaited = driver_->await(compute_, copied);
  completions_.push({copied, [held = tensor{source}](status) mutable { held.reset(); }, {}});
  return awaited;
}

copy_statistics gpu_context::copies() const {
  std::lock_guard guard{mutex_};
  return copies_;
}

void gpu_context::download(tensor source, std::function<void(result<tensor>)> done) {
  auto target = health() ? tensor::make(source.type(), source.dims(), pinned_) : health();
  if (!target) {
    fail_later([done = std::move(done)](status reason) { done(std::move(reason)); },
               target.status());
    return;
  }
  std::function<void(status)> finish = [source, copy = *target,
                                        done = std::move(done)](status outcome) mutable {
    source.reset(); // the callback may need its memory
    if (outcome)
      done(copy);
    else
      done(std::move(outcome));
  };
  if (auto launched = note(launch_download(target->raw(), source, finish)); !launched)
    fail_later(std::move(finish), std::move(launched));
}

status gpu_context::launch_download(void* target, const tensor& source,
                                    std::function<void(status)>& done) {
  std::lock_guard guard{mutex_};
  TROUPE_ASSIGN(auto position, marks_.set(*driver_, compute_));
  TROUPE_TRY(driver_->await(to_host_, position));
  if (source.bytes() > 0)
    TROUPE_TRY(driver_->copy(target, source.raw(), source.bytes(), direction::to_host, to_host_));
  copies_.downloaded += source.bytes();
  TROUPE_ASSIGN(auto copied, end_of(to_host_));
  completions_.push({copied, std::move(done), driver_->device_errors().end_epoch()});
  return {};
}

void gpu_context::notify_when_done(std::function<void(status)> done) {
  auto launched = health();
  if (launched) {
    std::lock_guard guard{mutex_};
    auto end_event = end_of(compute_);
    launched = end_event.status();
    if (launched) {
      completions_.push({*end_event, std::move(done), driver_->device_errors().end_epoch()});
      return;
    }
  }
  fail_later(std::move(done), note(std::move(launched)));
}

} // namespace troupe::gpu
