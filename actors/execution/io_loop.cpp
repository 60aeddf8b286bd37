#include "troupe/actors/execution/io_loop.hpp"

#include "troupe/actors/base/brief_look.hpp"
#include "troupe/actors/execution/outlet.hpp"

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
constexpr size_t much_at_once = 64 * 1024;
constexpr size_t cache_limit = size_t{512} << 20;
// What is cached goes when less came in such a time.
constexpr size_t little_traffic = 64 * 1024;
constexpr std::chrono::seconds measured_for{2};

struct state {
  struct entry {
    socket_handler* handler;
    milliseconds period;
    clock::time_point due;
    std::shared_ptr<void> keep;
  };

  state() : memory(cpu_allocator::make(0, cache_limit)) {
    if (epoll < 0 || wake < 0)
      throw std::system_error{errno, std::generic_category(), "cannot watch sockets"};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wake;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event);
  }
  ~state() {
    ::close(epoll);
    ::close(wake);
  }

  void rouse() {
    uint64_t one = 1;
    [[maybe_unused]] auto written = ::write(wake, &one, sizeof one);
  }

  void run() {
    while (!stopped.load(std::memory_order_acquire)) {
      std::array<epoll_event, 64> events;
      auto count = wait(events);
      write_batch batch; // what is said in answer to all of them
      for (int i = 0; i < count; ++i)
        if (handle(events[static_cast<size_t>(i)]) > much_at_once)
          batch.write(); // it took some time
      batch.write();
      take_called();
      for (auto socket : std::exchange(again, {})) {
        call(socket, false, false);
        batch.write();
      }
      remove_all();
      if (clock::now() >= next_tick)
        tick();
    }
  }

  void take_called() {
    if (!called.load(std::memory_order_acquire))
      return;
    std::lock_guard guard{mutex};
    called.store(false, std::memory_order_relaxed);
    again.insert(again.end(), to_call.begin(), to_call.end());
    to_call.clear();
  }

  int wait(std::span<epoll_event> events) {
    auto look = [&] {
      return ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 0);
    };
    auto count = look();
    if (count != 0 || !again.empty() || brief([&] { return (count = look()) != 0; }))
      return count;
    auto left = std::chrono::ceil<milliseconds>(next_tick - clock::now()).count();
    return ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()),
                        static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
  }

  size_t handle(const epoll_event& what) {
    if (what.data.fd == wake) {
      uint64_t count = 0;
      [[maybe_unused]] auto got = ::read(wake, &count, sizeof count);
      next_tick = clock::time_point{}; // there may be a nearer one
      return 0;
    }
    return call(what.data.fd, (what.events & ~static_cast<uint32_t>(EPOLLOUT)) != 0,
                (what.events & EPOLLOUT) != 0);
  }

  size_t call(int socket, bool readable, bool writable) {
    socket_handler* handler = nullptr;
    {
      std::lock_guard guard{mutex};
      if (auto it = entries.find(socket); it != entries.end())
        handler = it->second.handler; // stays: only this thread removes
    }
    if (!handler)
      return 0;
    auto moved = handler->ready(readable, writable, scratch);
    traffic += moved;
    return moved;
  }

  void remove_all() {
    std::vector<entry> gone;
    {
      std::lock_guard guard{mutex};
      for (auto socket : to_remove)
        if (auto it = entries.find(socket); it != entries.end()) {
          ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
          gone.push_back(std::move(it->second));
          entries.erase(it);
        }
      to_remove.clear();
    }
    for (auto& one : gone)
      one.handler->removed();
  }

  void tick() {
    auto now = clock::now();
    std::vector<socket_handler*> due;
    next_tick = now + std::chrono::minutes{1};
    {
      std::lock_guard guard{mutex};
      for (auto& [socket, one] : entries) {
        if (one.due <= now) {
          due.push_back(one.handler);
          one.due = now + one.period;
        }
        next_tick = std::min(next_tick, one.due);
      }
    }
    for (auto* one : due)
      one->tick(now);
    if (now - measured_since >= measured_for) {
      measured_since = now;
      if (std::exchange(traffic, 0) < little_traffic)
        memory->release_cached();
    }
  }

  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<bool> stopped{false};
  std::atomic<bool> called{false}; // there is one in to_call
  cpu_allocator::owner memory;

  std::mutex mutex;
  std::map<int, entry> entries;
  std::vector<int> to_remove, to_call;

  // The thread's own:
  clock::time_point next_tick{};
  std::vector<int> again; // sockets whose handlers have more to do
  size_t traffic = 0;
  clock::time_point measured_since = clock::now();
  brief_look brief;
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
    state_->rouse();
    // The last owner may have been a handler.
    if (state_->thread.get_id() == std::this_thread::get_id())
      state_->thread.detach();
    else
      state_->thread.join();
  }

  status add(int socket, socket_handler& handler, milliseconds tick_period,
             std::shared_ptr<void> keep) override;
  void want_writable(int socket, bool wanted) override;
  void remove(int socket) override;
  void call_again(int socket) override { state_->again.push_back(socket); }
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
    if (::epoll_ctl(state_->epoll, EPOLL_CTL_ADD, socket, &event) != 0)
      watched = failure(error_kind::resource_exhausted,
                        "the system does not watch its socket: ", std::strerror(errno));
  }
  state_->rouse(); // it may sleep past the tick
  return watched;
}

void epoll_loop::want_writable(int socket, bool wanted) {
  epoll_event event{};
  event.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(state_->epoll, EPOLL_CTL_MOD, socket, &event);
}

void epoll_loop::call_soon(int socket) {
  {
    std::lock_guard guard{state_->mutex};
    state_->to_call.push_back(socket);
    state_->called.store(true, std::memory_order_release);
  }
  state_->rouse();
}

void epoll_loop::remove(int socket) {
  {
    std::lock_guard guard{state_->mutex};
    state_->to_remove.push_back(socket);
  }
  state_->rouse();
}

} // namespace

std::shared_ptr<io_loop> io_loop::make() { return std::make_shared<epoll_loop>(); }

} // namespace troupe
