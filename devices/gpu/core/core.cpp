#include "troupe/devices/gpu/core/core.hpp"

#include "troupe/devices/gpu/core/graph_capture.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

// What a kernel may take at most while somebody waits for memory or for the end of the device.
constexpr auto patience = 10s;
constexpr auto look = 500us; // how often whoever waits for an event looks whether it still should

} // namespace

void core::release(buffer* memory) {
  static_cast<core*>(memory->context())->deallocate(memory->data(), memory->bytes());
  delete memory;
}

result<std::shared_ptr<core>> core::make(std::unique_ptr<driver> of, int ordinal,
                                         const memory_options& memory) {
  auto total = of->about().total_memory;
  auto limit = memory.limit ? std::min(memory.limit, total) : total / 10 * 9;
  std::shared_ptr<core> made{new core{std::move(of), ordinal, limit, memory.give_back_after}};
  TROUPE_TRY(made->start());
  TROUPE_TRY(made->reserve(memory.reserve));
  return made;
}

status core::start() {
  for (auto* one : {&compute_, &to_device_, &to_host_, &exchange_}) {
    TROUPE_ASSIGN(*one, driver_->make_stream());
  }
  thread_ = std::thread{[keep = shared_from_this()] { keep->run_completions(); }};
  return {};
}

core::~core() {
  stop();
  for (const auto& one : staging_) {
    static_cast<void>(wait_for(one.at)); // a lost device does not come to it
    driver_->destroy(one.at);
    driver_->deallocate_pinned(one.memory.memory);
  }
  if (!health()) // nobody can wait for what still runs there but the streams' ends
    destroy_streams();
  return_blocks();
  driver_->deallocate(reserve_.memory());
  for (const auto& one : cooling_)
    driver_->deallocate_pinned(one.memory);
  while (auto one = free_pinned_.take_any())
    driver_->deallocate_pinned(one->memory);
  for (const auto& one : old_graphs_)
    driver_->destroy(one.what);
  for (auto* marks : {&marks_, &marks_out_, &marks_in_, &marks_exchanged_})
    marks->destroy(*driver_);
  for (auto one : events_)
    driver_->destroy(one);
  destroy_streams();
}

void core::destroy_streams() noexcept {
  for (auto* one : {&compute_, &to_device_, &to_host_, &exchange_})
    if (*one)
      driver_->destroy(std::exchange(*one, nullptr));
}

void core::stop() {
  {
    std::lock_guard guard{completion_mutex_};
    stopping_ = true;
    completion_changed_.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach(); // a callback let the device go: the thread ends by itself
  else if (thread_.joinable())
    thread_.join();
  // What was launched may use what only the device holds.
  std::lock_guard guard{mutex_};
  if (!compute_)
    return;
  static_cast<void>(wait_for_launched());
}

status core::health() const {
  std::lock_guard guard{health_mutex_};
  return lost_;
}

// Remembers that the device is lost.
status core::note(status outcome) const {
  if (outcome || outcome.kind() != error_kind::unavailable)
    return outcome;
  std::unique_lock guard{health_mutex_};
  if (lost_)
    lost_ = failure(error_kind::unavailable, name(), " is lost: ", outcome.message(),
                    "; what it held is gone, other devices go on");
  auto why = lost_;
  auto told = std::exchange(when_lost_, {});
  guard.unlock();
  for (const auto& act : told)
    act(why);
  return why;
}

void core::on_lost(std::function<void(const status&)> act) {
  std::unique_lock guard{health_mutex_};
  if (lost_) {
    when_lost_.push_back(std::move(act));
    return;
  }
  auto why = lost_;
  guard.unlock();
  act(why);
}

status core::probe() {
  TROUPE_TRY(health());
  auto outcome = [&]() -> status {
    std::lock_guard guard{mutex_};
    TROUPE_ASSIGN(auto at, end_of(compute_));
    events_.push_back(at);
    return {};
  }();
  return note(std::move(outcome));
}

// Not everybody who has something copied looks at the outcome.
status core::remember(status outcome) const {
  auto noted = note(std::move(outcome));
  if (auto* making = core_recording::current(*this))
    return making->note(std::move(noted)); // nothing was to run
  if (!noted) {
    std::lock_guard guard{health_mutex_};
    if (failed_launch_)
      failed_launch_ = noted;
  }
  return noted;
}

status core::copy(void* to, const void* from, size_t bytes) const noexcept {
  if (bytes == 0)
    return {};
  return remember(driver_->copy(to, from, bytes, direction::within, compute()));
}

status core::copy(const strided_copy& what) const noexcept {
  for (int i = 0; i < what.rank; ++i)
    if (what.loops[static_cast<size_t>(i)].extent == 0)
      return {};
  return remember(driver_->copy(what, compute()));
}

status core::fill(void* to, const void* element, size_t element_bytes,
                  int64_t count) const noexcept {
  if (count == 0)
    return {};
  return remember(driver_->fill(to, element, element_bytes, count, compute()));
}

// -- recordings ----------------------------------------------------------------------------------

stream core::compute() const noexcept {
  auto* making = core_recording::current(*this);
  return making ? making->into() : compute_;
}

device_error_flags::place core::device_errors() const noexcept {
  const auto& all = driver_->device_errors();
  return core_recording::current(*this) ? all.always() : all.now();
}

result<std::unique_ptr<recording>> core::record() {
  return core_recording::begin(shared_from_this());
}

replay_statistics core::replays() const {
  std::lock_guard guard{mutex_};
  return replays_;
}

// Those that nobody launches at this moment; they will be made anew where it is worth it. Whoever
// makes one does not do this, or two would take turns.
bool core::take_recordings_back() noexcept {
  if (core_recording::current(*this))
    return false;
  bool any = false;
  for (auto* one : recordings_)
    if (one->usable_ && !one->claimed_) {
      one->give_blocks_back();
      any = true;
    }
  return any;
}

void core::destroy_later(launch_graph what) noexcept {
  static_cast<void>(marks_.set(*driver_, compute_)); // a lost device runs nothing
  old_graphs_.push_back({marks_.last(), what});
  destroy_old_graphs();
}

void core::destroy_old_graphs() noexcept {
  if (old_graphs_.empty())
    return;
  auto passed = marks_.passed(*driver_);
  while (!old_graphs_.empty() && old_graphs_.front().mark <= passed) {
    driver_->destroy(old_graphs_.front().what);
    old_graphs_.pop_front();
  }
}

// -- copies --------------------------------------------------------------------------------------

result<event> core::take_event() {
  if (events_.empty())
    return driver_->make_event();
  auto last = events_.back();
  events_.pop_back();
  return last;
}

// An event at the stream's end.
result<event> core::end_of(stream in) {
  TROUPE_ASSIGN(auto at, take_event());
  if (auto recorded = driver_->record(at, in); !recorded) {
    events_.push_back(at);
    return recorded;
  }
  return at;
}

result<tensor> core::upload(const tensor& from, device& by) {
  TROUPE_TRY(health());
  if (from.type() >= dtype::string)
    return invalid(from.type(), "s cannot be taken to ", name());
  auto [memory, in_line] = take(from.bytes(), true);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", from.bytes(), " bytes for ",
                   from.type(), from.dims());
  auto made = tensor::raw_over(new buffer{memory, from.bytes(), release, this, this}, from.type(),
                               from.dims());
  if (from.bytes() > 0)
    TROUPE_TRY(note(launch_upload(memory, from, in_line, by)));
  if (auto* making = core_recording::current(*this))
    making->keep(made); // it is made once
  return made;
}

// The elements are put where copies start without waiting, by several threads if they are many, and
// in pieces, so that one is on its way while the next is put there; compute goes on behind the
// copy.
status core::launch_upload(void* to, const tensor& from, bool in_line, device& by) {
  constexpr size_t piece = size_t{4} << 20;
  constexpr double nanoseconds_per_byte = 0.1;
  block staged{nullptr, block_cache::class_of(from.bytes()), 0};
  {
    std::lock_guard guard{mutex_};
    reclaim_staging();
    staged.memory = take_pinned(from.bytes());
  }
  if (!staged.memory)
    return failure(error_kind::resource_exhausted, "out of pinned memory: ", from.bytes(),
                   " bytes for ", from.type(), from.dims(), " on its way to ", name());
  auto* source = static_cast<const char*>(from.raw());
  auto* between = static_cast<char*>(staged.memory);
  status launched;
  for (size_t at = 0; at < from.bytes() && launched; at += piece) {
    auto bytes = std::min(piece, from.bytes() - at);
    by.parallel_for(
        static_cast<int64_t>(bytes), nanoseconds_per_byte, [&](int64_t begin, int64_t end) {
          std::memcpy(between + at + begin, source + at + begin, static_cast<size_t>(end - begin));
        });
    std::lock_guard guard{mutex_};
    if (in_line && at == 0) {
      auto here = marks_.set(*driver_, compute_);
      launched = here ? driver_->await(to_device_, *here) : here.status();
    }
    if (launched)
      launched = driver_->copy(static_cast<char*>(to) + at, between + at, bytes,
                               direction::to_device, to_device_);
  }
  std::lock_guard guard{mutex_};
  auto copied = end_of(to_device_);
  if (!copied) {
    free_pinned_.put(staged); // nothing runs any more
    return launched ? copied.status() : launched;
  }
  staging_.push_back({*copied, staged});
  TROUPE_TRY(std::move(launched));
  copies_.uploaded += from.bytes();
  return driver_->await(compute_, *copied);
}

void core::reclaim_staging() {
  while (!staging_.empty()) {
    auto behind = driver_->passed(staging_.front().at);
    if (!behind || !*behind)
      return;
    events_.push_back(staging_.front().at);
    free_pinned_.put(staging_.front().memory);
    staging_.pop_front();
  }
}

// The peer may let go of the tensor at once: this device holds it until it has been read.
result<tensor> core::take_over(const tensor& from) {
  TROUPE_TRY(health());
  auto* peer = const_cast<core*>(dynamic_cast<const core*>(from.space()));
  if (!peer || peer == this)
    return failure(error_kind::unimplemented, name(), " takes tensors from other GPUs only");
  auto [memory, in_line] = take(from.bytes(), true);
  if (!memory)
    return failure(error_kind::resource_exhausted, "out of memory: ", from.bytes(), " bytes for ",
                   from.type(), from.dims(), " from ", peer->name());
  auto made = tensor::raw_over(new buffer{memory, from.bytes(), release, this, this}, from.type(),
                               from.dims());
  if (from.bytes() == 0)
    return made;
  TROUPE_ASSIGN(auto made_there, peer->end_of_line());
  auto launched = note(launch_take_over(memory, *peer, made_there, from, in_line));
  {
    std::lock_guard guard{peer->mutex_};
    peer->events_.push_back(made_there); // streams wait for what it stood for
  }
  TROUPE_TRY(std::move(launched));
  return made;
}

// An event behind all that was launched so far.
result<event> core::end_of_line() {
  auto found = [&] {
    std::lock_guard guard{mutex_};
    return end_of(compute_);
  }();
  if (!found)
    return note(found.status());
  return found;
}

status core::launch_take_over(void* to, core& peer, event made, const tensor& from, bool in_line) {
  std::lock_guard guard{mutex_};
  TROUPE_TRY(driver_->await(to_device_, made));
  if (in_line) {
    TROUPE_ASSIGN(auto here, marks_.set(*driver_, compute_));
    TROUPE_TRY(driver_->await(to_device_, here));
  }
  TROUPE_TRY(driver_->copy_from(*peer.driver_, to, from.raw(), from.bytes(), to_device_));
  copies_.taken_over += from.bytes();
  TROUPE_ASSIGN(auto copied, end_of(to_device_));
  auto awaited = driver_->await(compute_, copied);
  std::lock_guard queue{completion_mutex_};
  completions_.push_back({copied, [held = tensor{from}](status) mutable { held.reset(); }, {}});
  completion_changed_.notify_one();
  return awaited;
}

copy_statistics core::copies() const {
  std::lock_guard guard{mutex_};
  return copies_;
}

void core::download(tensor from, std::function<void(result<tensor>)> done) {
  auto here = health() ? tensor::make(from.type(), from.dims(), pinned_) : health();
  if (!here) {
    fail_later([done = std::move(done)](status why) { done(std::move(why)); }, here.status());
    return;
  }
  std::function<void(status)> then = [from, to = *here,
                                      done = std::move(done)](status outcome) mutable {
    from.reset(); // who hears of it may want the memory next
    if (outcome)
      done(to);
    else
      done(std::move(outcome));
  };
  if (auto launched = note(launch_download(here->raw(), from, then)); !launched)
    fail_later(std::move(then), std::move(launched));
}

status core::launch_download(void* to, const tensor& from, std::function<void(status)>& done) {
  std::lock_guard guard{mutex_};
  TROUPE_ASSIGN(auto here, marks_.set(*driver_, compute_));
  TROUPE_TRY(driver_->await(to_host_, here));
  if (from.bytes() > 0)
    TROUPE_TRY(driver_->copy(to, from.raw(), from.bytes(), direction::to_host, to_host_));
  copies_.downloaded += from.bytes();
  TROUPE_ASSIGN(auto copied, end_of(to_host_));
  std::lock_guard queue{completion_mutex_};
  completions_.push_back({copied, std::move(done), driver_->device_errors().end_epoch()});
  completion_changed_.notify_one();
  return {};
}

void core::when_done(std::function<void(status)> done) {
  auto launched = health();
  if (launched) {
    std::lock_guard guard{mutex_};
    auto at = end_of(compute_);
    launched = at.status();
    if (launched) {
      std::lock_guard queue{completion_mutex_};
      completions_.push_back({*at, std::move(done), driver_->device_errors().end_epoch()});
      completion_changed_.notify_one();
      return;
    }
  }
  fail_later(std::move(done), note(std::move(launched)));
}

// -- completions ---------------------------------------------------------------------------------

// In line with the others, on the same thread.
void core::fail_later(std::function<void(status)> done, status why) {
  std::lock_guard queue{completion_mutex_};
  completions_.push_back(
      {nullptr, [done = std::move(done), why = std::move(why)](status) { done(why); }, {}});
  completion_changed_.notify_one();
}

status core::wait_for(event at) {
  for (auto until = std::chrono::steady_clock::now() + patience;;) {
    TROUPE_ASSIGN(auto behind, driver_->wait(at, look));
    if (behind)
      return {};
    if (std::chrono::steady_clock::now() > until)
      return failure(error_kind::deadline_exceeded, name(), " does not come to an end");
  }
}

void core::run_completions() {
  // Linux wakes a thread that sleeps up to 50 us late, as long as a short step takes, unless it is
  // told not to. Only this thread: others may be the user's.
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, 1UL));
  std::unique_lock guard{completion_mutex_};
  std::chrono::steady_clock::time_point latest{};
  for (;;) {
    auto anything = [&] { return stopping_ || !completions_.empty(); };
    if (give_back_after_.count() == 0) {
      completion_changed_.wait(guard, anything);
    } else if (!completion_changed_.wait_for(guard, give_back_after_, anything)) {
      guard.unlock();
      give_back_if_idle();
      guard.lock();
      continue;
    }
    if (completions_.empty())
      return;
    auto next = std::move(completions_.front());
    completions_.pop_front();
    guard.unlock();
    status outcome;
    bool stopped = false;
    for (bool behind = next.at == nullptr; !behind && !stopped;) {
      auto asked = driver_->wait(next.at, look);
      if (!asked) {
        outcome = note(asked.status());
        break;
      }
      behind = *asked;
      if (behind)
        break;
      std::lock_guard again{completion_mutex_};
      if (stopping_ && latest == std::chrono::steady_clock::time_point{})
        latest = std::chrono::steady_clock::now() + patience;
      stopped = stopping_ && std::chrono::steady_clock::now() > latest;
    }
    if (outcome && next.epoch && !stopped)
      outcome = driver_->device_errors().take(*next.epoch);
    if (outcome && next.epoch) {
      std::lock_guard launches{health_mutex_};
      outcome = std::exchange(failed_launch_, status{});
    }
    if (stopped)
      outcome = failure(error_kind::cancelled, name(), " is shut down");
    next.done(std::move(outcome));
    next.done = nullptr; // what it held goes now
    if (next.at) {
      std::lock_guard events{mutex_};
      events_.push_back(next.at);
    }
    guard.lock();
  }
}

} // namespace troupe::gpu
