#include "troupe/actors/execution/io_loop.hpp"

#include "troupe/actors/base/adaptive_spin.hpp"
#include "troupe/actors/execution/socket_writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t scratch_bytes = 64 * 1024;
// Answers are written before the next event if more than this was transferred for one event.
constexpr size_t batch_bytes = 64 * 1024;
constexpr size_t cache_limit = size_t{512} << 20; // bytes of memory()
// The cache is released when fewer bytes than this were transferred within a traffic period.
constexpr size_t min_traffic = 64 * 1024;
constexpr std::chrono::seconds traffic_period{2};

// The state of a loop, which its thread and its object share.
struct state {
  struct entry {
    socket_handler* handler;
    milliseconds period;
    clock::time_point due;
    std::shared_ptr<void> keep;
  };

  state() : memory(cpu_allocator::make(0, cache_limit)) {
    if (epoll_fd < 0 || wake_fd < 0)
      throw std::system_error{errno, std::generic_category(), "cannot watch sockets"};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wake_fd;
    ::epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event);
  }
  ~state() {
    ::close(epoll_fd);
    ::close(wake_fd);
  }

  void wake_up() {
    uint64_t increment = 1;
    [[maybe_unused]] auto written = ::write(wake_fd, &increment, sizeof increment);
  }

  void run() {
    while (!stopped.load(std::memory_order_acquire)) {
      std::array<epoll_event, 64> events;
      auto count = wait(events);
      write_batch batch; // for the answers to all events
      for (int i = 0; i < count; ++i)
        if (handle(events[static_cast<size_t>(i)]) > batch_bytes)
          batch.write(); // a large read took some time
      batch.write();
      take_added_calls();
      for (auto socket : std::exchange(pending_calls, {})) {
        call(socket, false, false);
        batch.write();
      }
      remove_all();
      if (clock::now() >= next_tick)
        tick();
    }
  }

  void take_added_calls() {
    if (!has_added_calls.load(std::memory_order_acquire))
      return;
    std::lock_guard guard{mutex};
    has_added_calls.store(false, std::memory_order_relaxed);
    pending_calls.insert(pending_calls.end(), added_calls.begin(), added_calls.end());
    added_calls.clear();
  }

  int wait(std::span<epoll_event> events) {
    auto poll = [&] {
      return ::epoll_wait(epoll_fd, events.data(), static_cast<int>(events.size()), 0);
    };
    auto count = poll();
    if (count != 0 || !pending_calls.empty() || spin([&] { return (count = poll()) != 0; }))
      return count;
    auto left = std::chrono::ceil<milliseconds>(next_tick - clock::now()).count();
    return ::epoll_wait(epoll_fd, events.data(), static_cast<int>(events.size()),
                        static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
  }

  size_t handle(const epoll_event& event) {
    if (event.data.fd == wake_fd) {
      uint64_t count = 0;
      [[maybe_unused]] auto bytes_read = ::read(wake_fd, &count, sizeof count);
      next_tick = clock::time_point{}; // a new socket may have an earlier tick
      return 0;
    }
    return call(event.data.fd, (event.events & ~static_cast<uint32_t>(EPOLLOUT)) != 0,
                (event.events & EPOLLOUT) != 0);
  }

  size_t call(int socket, bool readable, bool writable) {
    socket_handler* handler = nullptr;
    {
      std::lock_guard guard{mutex};
      if (auto position = entries.find(socket); position != entries.end())
        handler = position->second.handler; // remains valid: only this thread removes handlers
    }
    if (!handler)
      return 0;
    auto moved = handler->ready(readable, writable, scratch);
    traffic += moved;
    return moved;
  }

  void remove_all() {
    std::vector<entry> removed;
    {
      std::lock_guard guard{mutex};
      for (auto socket : to_remove)
        if (auto position = entries.find(socket); position != entries.end()) {
          ::epoll_ctl(epoll_fd, EPOLL_CTL_DEL, socket, nullptr);
          removed.push_back(std::move(position->second));
          entries.erase(position);
        }
      to_remove.clear();
    }
    for (auto& removed_entry : removed)
      removed_entry.handler->removed();
  }

  void tick() {
    auto now = clock::now();
    std::vector<socket_handler*> due;
    next_tick = now + std::chrono::minutes{1};
    {
      std::lock_guard guard{mutex};
      for (auto& [socket, watched] : entries) {
        if (watched.due <= now) {
          due.push_back(watched.handler);
          watched.due = now + watched.period;
        }
        next_tick = std::min(next_tick, watched.due);
      }
    }
    for (auto* handler : due)
      handler->tick(now);
    if (now - measured_since >= traffic_period) {
      measured_since = now;
      if (std::exchange(traffic, 0) < min_traffic)
        memory->release_cached();
    }
  }

  const int epoll_fd = ::epoll_create1(EPOLL_CLOEXEC);
  const int wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<bool> stopped{false};
  std::atomic<bool> has_added_calls{false}; // whether added_calls has elements
  cpu_allocator::owner memory;

  std::mutex mutex;
  std::map<int, entry> entries;
  std::vector<int> to_remove, added_calls;

  // Of the loop's thread:
  clock::time_point next_tick{};
  std::vector<int> pending_calls; // sockets whose handlers are to be called again
  size_t traffic = 0;             // bytes since measured_since
  clock::time_point measured_since = clock::now();
  adaptive_spin spin;
  alignas(64) std::array<std::byte, scratch_bytes> scratch;

  std::thread thread;
};

class epoll_loop final : public io_loop {
public:
  epoll_loop() {
    state_->thread = std::thread([state = state_] {
      ::pthread_setname_np(::pthread_self(), "troupe.io");
      state->run();
    });
  }
  ~epoll_loop() override {
    state_->stopped.store(true, std::memory_order_release);
    state_->wake_up();
    // A handler may own the loop, so this may run on the loop's thread.
    if (state_->thread.get_id() == std::this_thread::get_id())
      state_->thread.detach();
    else
      state_->thread.join();
  }

  status add(int socket, socket_handler& handler, milliseconds tick_period,
             std::shared_ptr<void> keep) override;
  void want_writable(int socket, bool wanted) override;
  void remove(int socket) override;
  void call_again(int socket) override { state_->pending_calls.push_back(socket); }
  void call_soon(int socket) override;
  allocator& memory() noexcept override { return *state_->memory; }

private:
  const std::shared_ptr<state> state_ = std::make_shared<state>();
};

status epoll_loop::add(int socket, socket_handler& handler, milliseconds tick_period,
                       std::shared_ptr<void> keep) {
  status watched;
  {
    std::lock_guard guard{state_->mutex};
    state_->entries[socket] = {&handler, tick_period, clock::now() + tick_period, std::move(keep)};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    if (::epoll_ctl(state_->epoll_fd, EPOLL_CTL_ADD, socket, &event) != 0)
      watched = failure(error_kind::resource_exhausted,
                        "the system cannot watch the socket: ", std::strerror(errno));
  }
  state_->wake_up(); // the thread may sleep past the first tick
  return watched;
}

void epoll_loop::want_writable(int socket, bool wanted) {
  epoll_event event{};
  event.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(state_->epoll_fd, EPOLL_CTL_MOD, socket, &event);
}

void epoll_loop::call_soon(int socket) {
  {
    std::lock_guard guard{state_->mutex};
    state_->added_calls.push_back(socket);
    state_->has_added_calls.store(true, std::memory_order_release);
  }
  state_->wake_up();
}

void epoll_loop::remove(int socket) {
  {
    std::lock_guard guard{state_->mutex};
    state_->to_remove.push_back(socket);
  }
  state_->wake_up();
}

} // namespace

std::shared_ptr<io_loop> io_loop::of(caf::actor_system& system) { return own(system); }

std::shared_ptr<io_loop> io_loop::own(caf::actor_system&) { return std::make_shared<epoll_loop>(); }

} // namespace troupe
