// Loops of sockets over CAF's multiplexer, on a thread of their own or on that of a host's
// middleman. docs/decisions/080 has the measurements.
#include "troupe/actors/execution/caf_loop.hpp"

#include "troupe/actors/base/adaptive_spin.hpp"
#include "troupe/actors/base/caf_io.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/socket_writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace troupe {
namespace {

namespace net = caf::io::network;
using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t scratch_bytes = 64 * 1024;
// Answers are written before the next event if more than this was transferred for one event.
constexpr size_t batch_bytes = 64 * 1024;
constexpr size_t cache_limit = size_t{512} << 20; // bytes of memory()
// The cache is released when fewer bytes than this were transferred within a traffic period.
constexpr size_t min_traffic = 64 * 1024;
constexpr std::chrono::seconds traffic_period{2};

[[noreturn]] void throw_system_error() {
  throw std::system_error{errno, std::generic_category(), "cannot watch sockets"};
}

class descriptor {
public:
  explicit descriptor(int number) : number_(number) {
    if (number < 0)
      throw_system_error();
  }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  int get() const noexcept { return number_; }

private:
  int number_;
};

// A multiplexer ends the process if the system refuses what the multiplexer asks for: so the loop
// asks first. Another thread may take the last descriptor in between.
class system_limits {
public:
  // Throws if there are not enough descriptors for a multiplexer.
  static void check_descriptors() {
    int ends[2];
    descriptor poll{::epoll_create1(EPOLL_CLOEXEC)};
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw_system_error();
    descriptor reading_end{ends[0]}, writing_end{ends[1]};
  }

  status check_watchable(int socket) const {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket, &event) != 0)
      return failure(error_kind::resource_exhausted,
                     "the system cannot watch the socket: ", std::strerror(errno));
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, socket, nullptr);
    return {};
  }

private:
  const descriptor poll_{::epoll_create1(EPOLL_CLOEXEC)};
};

class loop_core;

// A socket in a multiplexer. The functions of the class are called on the loop's thread.
class watched_socket final : public net::event_handler {
public:
  // `socket` may be invalid_native_socket; then the handler gets only ticks.
  watched_socket(net::default_multiplexer& multiplexer, int socket, loop_core& loop,
                 socket_handler& socket_owner, milliseconds period, std::shared_ptr<void> keep)
      : event_handler(multiplexer, socket), handler(socket_owner), tick_period(period),
        next_tick(clock::now() + period), loop_(loop), keep_(std::move(keep)) {}
  // The base class would close the descriptor, which the handler owns.
  ~watched_socket() override { fd_ = net::invalid_native_socket; }

  void handle_event(net::operation event) override;
  // The multiplexer calls these within its own iteration, in which handlers may not change.
  void removed_from_loop(net::operation) override {}
  void graceful_shutdown() override {}

  void start() {
    if (fd() != net::invalid_native_socket && !std::exchange(is_started_, true))
      activate();
  }
  void stop() {
    watch_output(false);
    if (std::exchange(is_started_, false))
      passivate();
  }
  bool lacks_output() const noexcept { return is_started_ && wants_output && !watches_output_; }
  void watch_output(bool watched) {
    if (!is_started_ || std::exchange(watches_output_, watched) == watched)
      return;
    if (watched)
      backend().add(net::operation::write, fd(), this);
    else
      backend().del(net::operation::write, fd(), this);
  }

  socket_handler& handler;
  const milliseconds tick_period;
  // Guarded by the loop's mutex:
  clock::time_point next_tick;
  bool is_leaving = false;
  std::atomic<bool> wants_output{false}; // is written with the mutex

private:
  loop_core& loop_;
  const std::shared_ptr<void> keep_;
  bool is_started_ = false, watches_output_ = false;
};

// The timer of a loop: multiplexers have none.
class loop_timer final : public net::event_handler {
public:
  loop_timer(net::default_multiplexer& multiplexer, loop_core& loop)
      : event_handler(multiplexer, net::invalid_native_socket), loop_(loop) {
    fd_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); // the base closes it
    if (fd_ < 0)
      throw_system_error();
  }

  void handle_event(net::operation) override;
  void removed_from_loop(net::operation) override {}
  void graceful_shutdown() override {}

  void set(clock::time_point due) {
    if (!std::exchange(is_started_, true))
      activate();
    if (due != std::exchange(due_, due))
      set_file(due.time_since_epoch());
  }
  void stop() {
    if (!std::exchange(is_started_, false))
      return;
    passivate();
    due_ = {};
    set_file({});
  }

private:
  void set_file(clock::duration due) {
    using std::chrono::nanoseconds, std::chrono::seconds;
    itimerspec spec{};
    auto whole = std::chrono::floor<seconds>(due);
    spec.it_value = {whole.count(), std::chrono::duration_cast<nanoseconds>(due - whole).count()};
    ::timerfd_settime(fd(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  loop_core& loop_;
  bool is_started_ = false;
  clock::time_point due_{}; // the file's time; {}: none
};

// Posted to the multiplexer when other threads, or handlers, have changed the loop's sockets. Keeps
// the loop while it is posted.
class change_job final : public net::multiplexer::runnable {
public:
  void prepare(std::shared_ptr<loop_core> loop, bool is_between_rounds) {
    loop_ = std::move(loop);
    is_between_rounds_ = is_between_rounds;
  }
  resume_result resume(multiplexer_unit*, size_t) override;

private:
  std::shared_ptr<loop_core> loop_;
  bool is_between_rounds_ = false;
};

// Keeps a host's thread from sleeping for a moment.
class spin_job final : public net::multiplexer::runnable {
public:
  explicit spin_job(std::shared_ptr<loop_core> loop) : loop_(std::move(loop)) {}
  resume_result resume(multiplexer_unit*, size_t) override;

private:
  const std::shared_ptr<loop_core> loop_;
};

// The sockets of a loop. Its jobs change them between two rounds of the multiplexer, so no event of
// a round refers to a socket that has left.
class loop_core final : public std::enable_shared_from_this<loop_core> {
public:
  struct options {
    caf::actor_system* host = nullptr; // counts the loop as an actor while the loop has sockets
    bool spins = false;                // on a thread that the host's middleman drives
  };
  loop_core(net::default_multiplexer& multiplexer, options behavior)
      : multiplexer_(multiplexer), options_(behavior), timer_(multiplexer, *this) {}

  // -- for any thread

  status add(int socket, socket_handler& handler, milliseconds tick_period,
             std::shared_ptr<void> keep);
  void want_writable(int socket, bool wanted);
  void remove(int socket);
  void call_soon(int socket);
  // Removes all sockets. The loop's last owner calls it.
  void close();
  allocator& memory() noexcept { return *memory_; }

  // -- on the loop's thread

  // Handles events until the loop is closed.
  void run(own_multiplexer& multiplexer);
  void call(watched_socket& socket, bool readable, bool writable);
  void apply_changes();
  void tick();
  bool continues_spinning();

private:
  struct changes {
    std::vector<watched_socket*> changed; // may have one socket twice
    std::vector<std::unique_ptr<watched_socket>> leaving;
    std::vector<int> calls;
  };
  changes take_changes();
  watched_socket* find(int socket);
  void write_answers();
  void finish_changes();
  void wake(); // with the lock

  net::default_multiplexer& multiplexer_;
  const options options_;
  const system_limits limits_;
  const cpu_allocator::owner memory_ = cpu_allocator::make(0, cache_limit);
  const caf::intrusive_ptr<change_job> job_ = caf::make_counted<change_job>();

  std::mutex mutex_;                                       // guards the members down to is_closed_
  std::map<int, std::unique_ptr<watched_socket>> sockets_; // only the loop's thread erases
  std::vector<int> changed_, calls_;
  clock::time_point next_tick_{};
  bool is_posted_ = false, is_counted_ = false, is_closed_ = false;

  // Of the loop's thread:
  loop_timer timer_;
  bool has_ended_ = false;
  write_batch* batch_ = nullptr; // of the current round
  stepwise_spin spin_;
  bool is_spinning_ = false;
  size_t traffic_ = 0; // bytes since measured_since_
  clock::time_point measured_since_ = clock::now();
  alignas(64) std::array<std::byte, scratch_bytes> scratch_;
};

void watched_socket::handle_event(net::operation event) {
  // An error alone counts as input: the handler reads it. The multiplexer then stops watching the
  // socket by itself.
  auto is_output = event == net::operation::write;
  loop_.call(*this, !is_output, is_output);
}

void loop_timer::handle_event(net::operation) {
  uint64_t expirations = 0;
  [[maybe_unused]] auto bytes_read = ::read(fd(), &expirations, sizeof expirations);
  if (is_started_)
    loop_.tick();
}

caf::resumable::resume_result change_job::resume(multiplexer_unit*, size_t) {
  if (!std::exchange(is_between_rounds_, true))
    return resume_later; // from another thread, it comes as an event of a round
  auto loop = std::move(loop_);
  loop->apply_changes();
  return done;
}

caf::resumable::resume_result spin_job::resume(multiplexer_unit*, size_t) {
  return loop_->continues_spinning() ? resume_later : done;
}

status loop_core::add(int socket, socket_handler& handler, milliseconds tick_period,
                      std::shared_ptr<void> keep) {
  auto outcome = limits_.check_watchable(socket);
  auto added =
      std::make_unique<watched_socket>(multiplexer_, outcome ? socket : net::invalid_native_socket,
                                       *this, handler, tick_period, std::move(keep));
  std::lock_guard guard{mutex_};
  changed_.push_back(socket); // first, because it may throw
  auto& place = sockets_[socket];
  if (place)
    return failure(error_kind::internal, "the loop watches the socket already");
  if (sockets_.size() == 1 || added->next_tick < next_tick_)
    next_tick_ = added->next_tick;
  place = std::move(added);
  if (options_.host && !std::exchange(is_counted_, true))
    options_.host->registry().inc_running();
  wake();
  return outcome;
}

void loop_core::want_writable(int socket, bool wanted) {
  std::lock_guard guard{mutex_};
  auto position = sockets_.find(socket);
  if (position == sockets_.end() || position->second->wants_output.exchange(wanted) == wanted)
    return;
  changed_.push_back(socket);
  wake();
}

void loop_core::remove(int socket) {
  std::lock_guard guard{mutex_};
  auto position = sockets_.find(socket);
  if (position == sockets_.end())
    return;
  changed_.push_back(socket);
  position->second->is_leaving = true;
  wake();
}

void loop_core::call_soon(int socket) {
  std::lock_guard guard{mutex_};
  if (!sockets_.contains(socket))
    return;
  calls_.push_back(socket);
  wake();
}

void loop_core::close() {
  std::lock_guard guard{mutex_};
  is_closed_ = true;
  // The host's multiplexer may have ended if the loop has no sockets.
  if (!options_.host || !sockets_.empty())
    wake();
}

void loop_core::wake() {
  if (std::exchange(is_posted_, true))
    return;
  job_->prepare(shared_from_this(), std::this_thread::get_id() == multiplexer_.thread_id());
  job_->ref();
  post_to(multiplexer_, job_.get());
}

void loop_core::run(own_multiplexer& multiplexer) {
  adaptive_spin spin;
  while (!has_ended_) {
    write_batch batch; // for the answers to all events of a round
    batch_ = &batch;
    auto poll = [&] { return multiplexer.poll_once(false); };
    if (!poll() && !spin(poll)) {
      batch.write();
      multiplexer.poll_once(true);
    }
    batch_ = nullptr;
  }
}

void loop_core::call(watched_socket& socket, bool readable, bool writable) {
  size_t moved = 0;
  {
    write_batch batch; // has an effect on a host's thread only
    moved = socket.handler.ready(readable, writable, scratch_);
  }
  traffic_ += moved;
  if (moved > batch_bytes)
    write_answers(); // a large read took some time
  if (!options_.spins)
    return;
  spin_.begin(clock::now());
  if (!std::exchange(is_spinning_, true))
    post_to(multiplexer_, caf::make_counted<spin_job>(shared_from_this()).release());
}

void loop_core::write_answers() {
  if (batch_)
    batch_->write();
}

bool loop_core::continues_spinning() {
  is_spinning_ = spin_.continues(clock::now());
  if (is_spinning_)
    ::sched_yield();
  return is_spinning_;
}

loop_core::changes loop_core::take_changes() {
  changes taken;
  std::lock_guard guard{mutex_};
  is_posted_ = false;
  auto leave = [&](auto position) {
    taken.leaving.push_back(std::move(position->second));
    return sockets_.erase(position);
  };
  for (auto number : changed_) {
    auto position = sockets_.find(number);
    if (position == sockets_.end())
      continue;
    if (position->second->is_leaving)
      leave(position);
    else
      taken.changed.push_back(position->second.get());
  }
  changed_.clear();
  taken.calls.swap(calls_);
  if (is_closed_) {
    taken.changed.clear();
    for (auto position = sockets_.begin(); position != sockets_.end();)
      position = leave(position);
  }
  return taken;
}

void loop_core::apply_changes() {
  auto taken = take_changes();
  for (auto* socket : taken.changed)
    socket->start();
  for (auto& socket : taken.leaving)
    socket->stop();
  multiplexer_.handle_internal_events(); // the sockets that leave get no event from now on
  for (auto& socket : taken.leaving) {
    socket->handler.removed();
    socket = nullptr;
  }
  for (auto* socket : taken.changed) {
    // Most sockets are writable: their writer has left them because it had written enough.
    if (socket->lacks_output())
      call(*socket, false, true);
    socket->watch_output(socket->wants_output);
  }
  for (auto number : taken.calls)
    if (auto* socket = find(number)) {
      call(*socket, false, false);
      write_answers();
    }
  finish_changes();
}

watched_socket* loop_core::find(int socket) {
  std::lock_guard guard{mutex_};
  auto position = sockets_.find(socket);
  return position == sockets_.end() ? nullptr : position->second.get();
}

// Sets the timer, or ends the loop's use of the multiplexer until a socket is added.
void loop_core::finish_changes() {
  std::unique_lock lock{mutex_};
  auto is_empty = sockets_.empty();
  auto due = next_tick_;
  auto was_counted = is_empty && std::exchange(is_counted_, false);
  has_ended_ = is_empty && is_closed_;
  lock.unlock();
  if (!is_empty)
    return timer_.set(due);
  timer_.stop();
  multiplexer_.handle_internal_events();
  memory_->release_cached();
  if (was_counted)
    options_.host->registry().dec_running(); // the system may end now, and joins this thread
}

void loop_core::tick() {
  auto now = clock::now();
  std::vector<socket_handler*> due;
  auto next = now + std::chrono::minutes{1};
  {
    std::lock_guard guard{mutex_};
    for (auto& [number, socket] : sockets_) {
      if (socket->next_tick <= now) {
        due.push_back(&socket->handler);
        socket->next_tick = now + socket->tick_period;
      }
      next = std::min(next, socket->next_tick);
    }
    next_tick_ = next;
  }
  {
    write_batch batch; // has an effect on a host's thread only
    for (auto* handler : due)
      handler->tick(now);
  }
  if (now - measured_since_ >= traffic_period) {
    measured_since_ = now;
    if (std::exchange(traffic_, 0) < min_traffic)
      memory_->release_cached();
  }
  timer_.set(next);
}

// The function of a loop's own thread.
void run_loop(caf::actor_system& system, std::promise<std::shared_ptr<loop_core>> started) {
  ::pthread_setname_np(::pthread_self(), "troupe.io");
  std::optional<own_multiplexer> multiplexer;
  std::shared_ptr<loop_core> core;
  try {
    system_limits::check_descriptors();
    multiplexer.emplace(system);
    core = std::make_shared<loop_core>(*multiplexer, loop_core::options{});
  } catch (const std::exception&) {
    return started.set_exception(std::current_exception());
  }
  started.set_value(core);
  core->run(*multiplexer);
}

// A loop as its owners see it.
class caf_loop final : public io_loop {
public:
  explicit caf_loop(std::shared_ptr<loop_core> core = nullptr) : core_(std::move(core)) {}
  ~caf_loop() override {
    if (core_)
      core_->close();
    if (!thread_.joinable())
      return;
    // A handler may own the loop, so this may run on the loop's thread.
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }

  // Starts a thread of the loop's own.
  void start(caf::actor_system& system) {
    std::promise<std::shared_ptr<loop_core>> started;
    auto core = started.get_future();
    thread_ = std::thread{[&system, started = std::move(started)]() mutable {
      run_loop(system, std::move(started));
    }};
    try {
      core_ = core.get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }

  status add(int socket, socket_handler& handler, milliseconds tick_period,
             std::shared_ptr<void> keep) override {
    return core_->add(socket, handler, tick_period, std::move(keep));
  }
  void want_writable(int socket, bool wanted) override { core_->want_writable(socket, wanted); }
  void remove(int socket) override { core_->remove(socket); }
  void call_again(int socket) override { core_->call_soon(socket); }
  void call_soon(int socket) override { core_->call_soon(socket); }
  allocator& memory() noexcept override { return core_->memory(); }

private:
  std::shared_ptr<loop_core> core_;
  std::thread thread_;
};

} // namespace

std::shared_ptr<io_loop> loop_of_middleman(caf::actor_system& system, bool spins) {
  auto* multiplexer = multiplexer_of_middleman(system);
  if (!multiplexer)
    return nullptr;
  return std::make_shared<caf_loop>(std::make_shared<loop_core>(
      *multiplexer, loop_core::options{.host = &system, .spins = spins}));
}

std::shared_ptr<io_loop> io_loop::of(caf::actor_system& system) {
  // A system of Troupe's own has brokers for discovery at most, for which steps should not wait.
  auto shared = is_own_system(system) ? nullptr : loop_of_middleman(system, spins_in_hosts);
  return shared ? shared : own(system);
}

std::shared_ptr<io_loop> io_loop::own(caf::actor_system& system) {
  auto loop = std::make_shared<caf_loop>();
  loop->start(system);
  return loop;
}

} // namespace troupe
