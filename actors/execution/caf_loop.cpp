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

// The wanted state of a loop's sockets. Any thread may change it; the loop's thread applies
// changes.
class socket_table {
public:
  // If `host` is not null, the system counts the loop as an actor while the loop has sockets.
  socket_table(net::default_multiplexer& multiplexer, loop_core& loop, caf::actor_system* host)
      : multiplexer_(multiplexer), loop_(loop), host_(host) {}

  // Returns false if the loop has the socket already.
  bool add(int number, std::unique_ptr<watched_socket> socket);
  void want_writable(int number, bool wanted);
  void remove(int number);
  void call_soon(int number);
  // Removes all sockets. The loop's last owner calls it.
  void close();

  // -- on the loop's thread

  struct changes {
    std::vector<watched_socket*> changed; // may have a socket twice
    std::vector<std::unique_ptr<watched_socket>> leaving;
    std::vector<int> calls;
  };
  changes take_changes();
  watched_socket* find(int number);
  std::vector<socket_handler*> take_due(clock::time_point now);
  clock::time_point next_tick();

  // The loop's use of the multiplexer after changes.
  enum class usage {
    goes_on,
    pauses, // there is no socket
    pauses_and_releases_host,
    ends,
  };
  usage review();

private:
  void wake(std::unique_lock<std::mutex>& lock);

  net::default_multiplexer& multiplexer_;
  loop_core& loop_;
  caf::actor_system* const host_;
  const caf::intrusive_ptr<change_job> job_ = caf::make_counted<change_job>();
  std::mutex mutex_;                                       // guards the members below
  std::map<int, std::unique_ptr<watched_socket>> sockets_; // only the loop's thread erases
  std::vector<int> changed_, calls_;
  clock::time_point next_tick_{};
  bool is_posted_ = false, is_counted_ = false, is_closed_ = false;
};

// The allocator of received tensors, whose cache is released when little is received.
class received_memory {
public:
  allocator& source() noexcept { return *memory_; }
  void count(size_t bytes) noexcept { traffic_ += bytes; }
  void release() { memory_->release_cached(); }
  void review(clock::time_point now) {
    if (now - measured_since_ < traffic_period)
      return;
    measured_since_ = now;
    if (std::exchange(traffic_, 0) < min_traffic)
      release();
  }

private:
  const cpu_allocator::owner memory_ = cpu_allocator::make(0, cache_limit);
  size_t traffic_ = 0; // bytes since measured_since_
  clock::time_point measured_since_ = clock::now();
};

// A loop. Its jobs change the handlers between two rounds of the multiplexer, so no event of a
// round refers to a socket that has left.
class loop_core final : public std::enable_shared_from_this<loop_core> {
public:
  struct options {
    caf::actor_system* host = nullptr; // whose middleman drives the multiplexer
    bool spins = false;                // before the host's thread sleeps
  };
  loop_core(net::default_multiplexer& multiplexer, options behavior)
      : multiplexer_(multiplexer), options_(behavior), sockets_(multiplexer, *this, behavior.host),
        timer_(multiplexer, *this) {}

  // -- for any thread

  status add(int socket, socket_handler& handler, milliseconds tick_period,
             std::shared_ptr<void> keep);
  socket_table& sockets() noexcept { return sockets_; }
  bool has_host() const noexcept { return options_.host != nullptr; }
  allocator& memory() noexcept { return memory_.source(); }

  // -- on the loop's thread

  // Handles events until the loop is closed.
  void run(own_multiplexer& multiplexer);
  void call(watched_socket& socket, bool readable, bool writable);
  void apply_changes();
  void tick();
  bool continues_spinning();

private:
  void write_answers();
  void finish_changes();

  net::default_multiplexer& multiplexer_;
  const options options_;
  const system_limits limits_;
  received_memory memory_;
  socket_table sockets_;
  // Of the loop's thread:
  loop_timer timer_;
  bool has_ended_ = false;
  write_batch* batch_ = nullptr; // of the current round
  stepwise_spin spin_;
  bool is_spinning_ = false;
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

bool socket_table::add(int number, std::unique_ptr<watched_socket> socket) {
  std::unique_lock lock{mutex_};
  changed_.push_back(number); // first, because it may throw
  auto& place = sockets_[number];
  if (place)
    return false;
  if (sockets_.size() == 1 || socket->next_tick < next_tick_)
    next_tick_ = socket->next_tick;
  place = std::move(socket);
  if (host_ && !std::exchange(is_counted_, true))
    host_->registry().inc_running();
  wake(lock);
  return true;
}

void socket_table::want_writable(int number, bool wanted) {
  std::unique_lock lock{mutex_};
  auto position = sockets_.find(number);
  if (position == sockets_.end() || position->second->wants_output.exchange(wanted) == wanted)
    return;
  changed_.push_back(number);
  wake(lock);
}

void socket_table::remove(int number) {
  std::unique_lock lock{mutex_};
  auto position = sockets_.find(number);
  if (position == sockets_.end())
    return;
  changed_.push_back(number);
  position->second->is_leaving = true;
  wake(lock);
}

void socket_table::call_soon(int number) {
  std::unique_lock lock{mutex_};
  if (!sockets_.contains(number))
    return;
  calls_.push_back(number);
  wake(lock);
}

void socket_table::close() {
  std::unique_lock lock{mutex_};
  is_closed_ = true;
  // The host's multiplexer may have ended if the loop has no sockets.
  if (!host_ || !sockets_.empty())
    wake(lock);
}

// Posts the job without the lock: the multiplexer's pipe may be full, and its thread may wait for
// the lock. The host does not end before the job has run.
void socket_table::wake(std::unique_lock<std::mutex>& lock) {
  if (std::exchange(is_posted_, true))
    return;
  lock.unlock();
  job_->prepare(loop_.shared_from_this(), std::this_thread::get_id() == multiplexer_.thread_id());
  job_->ref();
  post_to(multiplexer_, job_.get());
}

socket_table::changes socket_table::take_changes() {
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

watched_socket* socket_table::find(int number) {
  std::lock_guard guard{mutex_};
  auto position = sockets_.find(number);
  return position == sockets_.end() ? nullptr : position->second.get();
}

std::vector<socket_handler*> socket_table::take_due(clock::time_point now) {
  std::vector<socket_handler*> due;
  std::lock_guard guard{mutex_};
  next_tick_ = now + std::chrono::minutes{1};
  for (auto& [number, socket] : sockets_) {
    if (socket->next_tick <= now) {
      due.push_back(&socket->handler);
      socket->next_tick = now + socket->tick_period;
    }
    next_tick_ = std::min(next_tick_, socket->next_tick);
  }
  return due;
}

clock::time_point socket_table::next_tick() {
  std::lock_guard guard{mutex_};
  return next_tick_;
}

socket_table::usage socket_table::review() {
  std::lock_guard guard{mutex_};
  if (!sockets_.empty())
    return usage::goes_on;
  if (is_posted_)
    return usage::pauses; // and is reviewed again
  if (std::exchange(is_counted_, false))
    return usage::pauses_and_releases_host;
  return is_closed_ ? usage::ends : usage::pauses;
}

status loop_core::add(int socket, socket_handler& handler, milliseconds tick_period,
                      std::shared_ptr<void> keep) {
  auto outcome = limits_.check_watchable(socket);
  auto added =
      std::make_unique<watched_socket>(multiplexer_, outcome ? socket : net::invalid_native_socket,
                                       *this, handler, tick_period, std::move(keep));
  if (!sockets_.add(socket, std::move(added)))
    return failure(error_kind::internal, "the loop watches the socket already");
  return outcome;
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
  memory_.count(moved);
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

void loop_core::apply_changes() {
  auto taken = sockets_.take_changes();
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
    if (auto* socket = sockets_.find(number)) {
      call(*socket, false, false);
      write_answers();
    }
  finish_changes();
}

// Sets the timer, or ends the loop's use of the multiplexer until a socket is added.
void loop_core::finish_changes() {
  using usage = socket_table::usage;
  auto state = sockets_.review();
  if (state == usage::goes_on)
    return timer_.set(sockets_.next_tick());
  timer_.stop();
  multiplexer_.handle_internal_events();
  memory_.release();
  has_ended_ = state == usage::ends;
  if (state == usage::pauses_and_releases_host)
    options_.host->registry().dec_running(); // the system may end now, and joins this thread
}

void loop_core::tick() {
  auto now = clock::now();
  auto due = sockets_.take_due(now);
  {
    write_batch batch; // has an effect on a host's thread only
    for (auto* handler : due)
      handler->tick(now);
  }
  memory_.review(now);
  timer_.set(sockets_.next_tick());
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
      core_->sockets().close();
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
  void want_writable(int socket, bool wanted) override {
    core_->sockets().want_writable(socket, wanted);
  }
  void remove(int socket) override { core_->sockets().remove(socket); }
  void call_again(int socket) override { core_->sockets().call_soon(socket); }
  void call_soon(int socket) override { core_->sockets().call_soon(socket); }
  bool is_shared() const noexcept override { return core_->has_host(); }
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
