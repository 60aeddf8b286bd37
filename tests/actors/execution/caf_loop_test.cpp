// Loops of sockets: with a thread of their own, and on the thread of a host's middleman.
#include "troupe/actors/execution/caf_loop.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/caf_io.hpp"
#include "troupe/actors/base/system.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::caf_loop_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

enum class driver { own_thread, host, spinning_host };
constexpr std::array all_drivers{driver::own_thread, driver::host, driver::spinning_host};

struct host_config : caf::actor_system_config {
  explicit host_config(bool with_middleman = true) {
    set("scheduler.max-threads", 1);
    if (with_middleman)
      load<caf::io::middleman>();
  }
};

std::shared_ptr<io_loop> make_loop(caf::actor_system& system, driver kind) {
  auto loop = kind == driver::own_thread ? io_loop::own(system)
                                         : loop_of_middleman(system, kind == driver::spinning_host);
  REQUIRE(loop);
  return loop;
}

struct world {
  explicit world(driver kind)
      : config(kind != driver::own_thread), system(config), loop(make_loop(system, kind)) {}
  watchdog watch;
  host_config config;
  caf::actor_system system;
  std::shared_ptr<io_loop> loop;
};

bool becomes_true(const std::function<bool()>& is_true) {
  for (auto end = clock::now() + 30s; clock::now() < end; std::this_thread::sleep_for(1ms))
    if (is_true())
      return true;
  return false;
}

// Both ends are closed by their owners.
struct socket_pair {
  socket_pair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
  int ends[2];
};

// Sends received bytes back, and closes its socket in removed().
class echo : public socket_handler {
public:
  echo(io_loop& loop, int socket) : loop_(loop), socket_(socket) {}
  virtual ~echo() = default;

  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override {
    called_late = called_late || is_removed;
    ++calls;
    if (writable) {
      ++writable_calls;
      on_writable();
    }
    if (!readable)
      return 0;
    auto received = ::recv(socket_, scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (received == 0 || (received < 0 && errno != EAGAIN))
      remove();
    if (received <= 0)
      return 0;
    ::send(socket_, scratch.data(), static_cast<size_t>(received), MSG_NOSIGNAL | MSG_DONTWAIT);
    return static_cast<size_t>(received);
  }
  void tick(clock::time_point) override {
    called_late = called_late || is_removed;
    ++ticks;
  }
  void removed() override {
    called_late = called_late || is_removed;
    ::close(socket_);
    is_removed = true;
  }
  virtual void on_writable() { loop_.want_writable(socket_, false); }

  // A descriptor's number may be used again after removed(), so remove() is called once.
  void remove() {
    if (!was_removed_.exchange(true))
      loop_.remove(socket_);
  }
  int socket() const { return socket_; }

  std::atomic<int> calls{0}, writable_calls{0}, ticks{0};
  std::atomic<bool> is_removed{false}, called_late{false};

protected:
  io_loop& loop_;

private:
  const int socket_;
  std::atomic<bool> was_removed_{false};
};

template <class Handler = echo>
std::shared_ptr<Handler> add_to(io_loop& loop, int socket, std::chrono::milliseconds period = 1h) {
  auto handler = std::make_shared<Handler>(loop, socket);
  REQUIRE(loop.add(socket, *handler, period, handler).ok());
  return handler;
}

void remove_and_wait(echo& handler) {
  handler.remove();
  REQUIRE(becomes_true([&] { return handler.is_removed.load(); }));
  CHECK_FALSE(handler.called_late);
}

bool comes_back(int socket, char byte) {
  char received = 0;
  return ::write(socket, &byte, 1) == 1 && ::read(socket, &received, 1) == 1 && received == byte;
}

size_t count_threads_named(const std::string& name) {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string line;
    std::ifstream{task.path() / "comm"} >> line;
    count += line == name;
  }
  return count;
}

} // namespace

TEST_CASE("a loop reports input and the end of a connection, and then removes the socket once") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = add_to(*at.loop, pair.ends[1]);
  for (char byte = 'a'; byte < 'z'; ++byte)
    REQUIRE(comes_back(pair.ends[0], byte));
  ::close(pair.ends[0]);
  CHECK(becomes_true([&] { return handler->is_removed.load(); }));
  CHECK_FALSE(handler->called_late);
  CHECK(becomes_true([&] { return handler.use_count() == 1; })); // the loop has released it
}

TEST_CASE("threads add, change and remove sockets while the loop serves them") {
  world at{GENERATE(from_range(all_drivers))};
  std::atomic<int> failures{0};
  auto use_sockets = [&](unsigned seed) {
    std::mt19937 random{seed};
    for (int round = 0; round < 200; ++round) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return void(++failures);
      auto handler = std::make_shared<echo>(*at.loop, ends[1]);
      if (!at.loop->add(ends[1], *handler, 2ms, handler).ok())
        return void(++failures);
      auto leaves_early = random() % 8 == 0; // perhaps before the loop's thread has seen it
      for (auto i = random() % 12; i > 0 && !leaves_early; --i)
        switch (random() % 5) {
          case 0: at.loop->want_writable(ends[1], true); break;
          case 1:
            at.loop->want_writable(ends[1], true);
            at.loop->want_writable(ends[1], false);
            break;
          case 2: at.loop->call_soon(ends[1]); break;
          default: failures += !comes_back(ends[0], 'x');
        }
      if (!leaves_early && random() % 2 == 0)
        ::shutdown(ends[0], SHUT_WR);
      else
        handler->remove();
      if (!becomes_true([&] { return handler->is_removed.load(); }) || handler->called_late)
        ++failures;
      ::close(ends[0]);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back(use_sockets, seed);
  }
  CHECK(failures == 0);
}

TEST_CASE("a loop with many sockets serves each of them") {
  world at{GENERATE(from_range(all_drivers))};
  constexpr size_t count = 300;
  std::vector<socket_pair> pairs(count);
  std::vector<std::shared_ptr<echo>> handlers;
  for (auto& pair : pairs)
    handlers.push_back(add_to(*at.loop, pair.ends[1], 5ms));
  for (int round = 0; round < 3; ++round) {
    for (auto& pair : pairs)
      REQUIRE(::write(pair.ends[0], "x", 1) == 1);
    for (auto& pair : pairs) {
      char byte = 0;
      REQUIRE(::read(pair.ends[0], &byte, 1) == 1);
    }
  }
  CHECK(becomes_true([&] {
    return std::ranges::all_of(handlers, [](const auto& handler) { return handler->ticks > 1; });
  }));
  for (auto& handler : handlers)
    handler->remove();
  for (size_t i = 0; i < count; ++i) {
    CHECK(becomes_true([&] { return handlers[i]->is_removed.load(); }));
    CHECK_FALSE(handlers[i]->called_late);
    ::close(pairs[i].ends[0]);
  }
}

TEST_CASE("a writable socket is reported while its handler wants that") {
  struct keeps_wanting final : echo {
    using echo::echo;
    void on_writable() override {}
  };
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = add_to<keeps_wanting>(*at.loop, pair.ends[1]);
  at.loop->want_writable(pair.ends[1], true);
  CHECK(becomes_true([&] { return handler->writable_calls > 10; }));
  at.loop->want_writable(pair.ends[1], false);
  // After a call that follows the change, none comes.
  auto settled = handler->calls.load();
  REQUIRE(becomes_true([&] {
    auto before = std::exchange(settled, handler->calls.load());
    std::this_thread::sleep_for(20ms);
    return before == settled && handler->calls == settled;
  }));
  CHECK(comes_back(pair.ends[0], 'x')); // input is still reported
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("the last call of want_writable() holds, whichever threads call it") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = add_to(*at.loop, pair.ends[1]);
  for (int round = 0; round < 50; ++round) {
    {
      std::jthread other{[&] {
        for (int i = 0; i < 20; ++i)
          at.loop->want_writable(pair.ends[1], i % 2 == 0);
      }};
      for (int i = 0; i < 20; ++i)
        at.loop->want_writable(pair.ends[1], i % 2 == 0);
    }
    at.loop->want_writable(pair.ends[1], true);
    auto before = handler->writable_calls.load();
    // The handler withdraws its wish in each call; so one is reported for this wish, or for one
    // before it.
    CHECK(becomes_true([&] {
      at.loop->want_writable(pair.ends[1], true);
      return handler->writable_calls > before;
    }));
  }
  at.loop->want_writable(pair.ends[1], false);
  std::this_thread::sleep_for(20ms);
  auto before = handler->calls.load();
  std::this_thread::sleep_for(50ms);
  CHECK(handler->calls == before);
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("a full socket is reported when its peer has read") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  ::fcntl(pair.ends[1], F_SETFL, O_NONBLOCK);
  std::vector<char> bytes(64 * 1024);
  while (::write(pair.ends[1], bytes.data(), bytes.size()) > 0) {
  }
  struct keeps_wanting final : echo {
    using echo::echo;
    void on_writable() override {}
  };
  auto handler = add_to<keeps_wanting>(*at.loop, pair.ends[1]);
  at.loop->want_writable(pair.ends[1], true);
  std::this_thread::sleep_for(50ms);
  CHECK(handler->writable_calls <= 1); // the loop tries once before it watches the socket
  ::fcntl(pair.ends[0], F_SETFL, O_NONBLOCK);
  while (::read(pair.ends[0], bytes.data(), bytes.size()) > 0) {
  }
  CHECK(becomes_true([&] { return handler->writable_calls > 1; }));
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("each socket gets ticks at its own period") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair slow_pair, fast_pair;
  auto slow = add_to(*at.loop, slow_pair.ends[1], 1h);
  auto fast = add_to(*at.loop, fast_pair.ends[1], 10ms); // due before the one that was added first
  auto begin = clock::now();
  CHECK(becomes_true([&] { return fast->ticks >= 20; }));
  auto periods = (clock::now() - begin) / 10ms;
  CHECK(fast->ticks <= periods + 1);
  CHECK(periods >= 19);
  CHECK(slow->ticks == 0);
  for (auto* handler : {slow.get(), fast.get()})
    remove_and_wait(*handler);
  for (auto& pair : {slow_pair, fast_pair})
    ::close(pair.ends[0]);
}

TEST_CASE("an idle loop does not run") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = add_to(*at.loop, pair.ends[1], 20ms);
  REQUIRE(comes_back(pair.ends[0], 'x'));
  std::this_thread::sleep_for(50ms);
  auto processor_time = [] {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
  };
  auto before = processor_time();
  std::this_thread::sleep_for(400ms);
  CHECK(processor_time() - before < 100ms * timeout_scale);
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("a file that the system cannot watch is refused, and gets ticks until it is removed") {
  world at{GENERATE(from_range(all_drivers))};
  auto file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto handler = std::make_shared<echo>(*at.loop, file);
  auto outcome = at.loop->add(file, *handler, 5ms, handler);
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(), Contains("cannot watch the socket: Operation not permitted"));
  at.loop->want_writable(file, true); // has no effect
  CHECK(becomes_true([&] { return handler->ticks > 2; }));
  CHECK(handler->calls == 0);
  remove_and_wait(*handler);
  auto closed = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::close(closed);
  auto without_file = std::make_shared<echo>(*at.loop, closed);
  CHECK_THAT(at.loop->add(closed, *without_file, 1h, without_file).message(),
             Contains("Bad file descriptor"));
  at.loop->remove(closed);
  CHECK(becomes_true([&] { return without_file->is_removed.load(); }));
}

TEST_CASE("a socket that is added twice is refused, and stays as it was") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = add_to(*at.loop, pair.ends[1]);
  auto second = std::make_shared<echo>(*at.loop, pair.ends[1]);
  CHECK(at.loop->add(pair.ends[1], *second, 1h, second).kind() == error_kind::internal);
  CHECK(comes_back(pair.ends[0], 'x'));
  CHECK(second->calls == 0);
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("a handler removes another socket whose input was reported in the same round") {
  struct removes_peer final : echo {
    using echo::echo;
    size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override {
      peer->remove();
      return echo::ready(readable, writable, scratch);
    }
    std::shared_ptr<echo> peer;
  };
  struct blocks_loop final : echo {
    using echo::echo;
    size_t ready(bool, bool, std::span<std::byte>) override {
      if (std::exchange(has_blocked, true)) // reported again before it is removed
        return 0;
      for (is_blocking = true; is_blocking;)
        std::this_thread::yield();
      remove();
      return 0;
    }
    std::atomic<bool> is_blocking{false};
    bool has_blocked = false;
  };
  world at{GENERATE(from_range(all_drivers))};
  for (int round = 0; round < 20; ++round) {
    socket_pair first, second, third;
    auto left = add_to<removes_peer>(*at.loop, first.ends[1]);
    auto right = add_to<removes_peer>(*at.loop, second.ends[1]);
    left->peer = right;
    right->peer = left;
    auto blocker = add_to<blocks_loop>(*at.loop, third.ends[1]);
    REQUIRE(::write(third.ends[0], "x", 1) == 1);
    REQUIRE(becomes_true([&] { return blocker->is_blocking.load(); }));
    for (auto* pair : {&first, &second})
      REQUIRE(::write(pair->ends[0], "x", 1) == 1);
    blocker->is_blocking = false;
    for (echo* handler : {static_cast<echo*>(left.get()), static_cast<echo*>(right.get()),
                          static_cast<echo*>(blocker.get())})
      remove_and_wait(*handler);
    left->peer = right->peer = nullptr;
    for (auto* pair : {&first, &second, &third})
      ::close(pair->ends[0]);
  }
}

TEST_CASE("a descriptor's number is used again for a socket that is added in removed()") {
  struct replaced final : echo {
    using echo::echo;
    void removed() override {
      echo::removed();
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
      if (ends[0] != socket()) // so that the loop gets the lower number, if that is the old one
        std::swap(ends[0], ends[1]);
      auto handler = std::make_shared<echo>(loop_, ends[0]);
      if (!loop_.add(ends[0], *handler, 1h, handler).ok())
        return;
      successor = handler;
      other_end = ends[1];
    }
    std::shared_ptr<echo> successor;
    std::atomic<int> other_end{-1};
  };
  world at{GENERATE(from_range(all_drivers))};
  int same_numbers = 0;
  for (int round = 0; round < 20; ++round) {
    socket_pair pair;
    auto handler = add_to<replaced>(*at.loop, pair.ends[1]);
    at.loop->want_writable(pair.ends[1], true);
    if (round % 2 == 0)
      CHECK(comes_back(pair.ends[0], 'x'));
    handler->remove();
    REQUIRE(becomes_true([&] { return handler->other_end >= 0; }));
    same_numbers += handler->successor->socket() == handler->socket();
    CHECK(comes_back(handler->other_end, 'y'));
    ::close(handler->other_end);
    REQUIRE(becomes_true([&] { return handler->successor->is_removed.load(); }));
    CHECK_FALSE(handler->successor->called_late);
    ::close(pair.ends[0]);
  }
  CHECK(same_numbers > 0);
}

TEST_CASE("a handler that asks for more calls gets them, and other sockets are served meanwhile") {
  struct repeats final : echo {
    using echo::echo;
    size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override {
      if (repetitions.fetch_sub(1) > 0)
        loop_.call_again(socket());
      return echo::ready(readable, writable, scratch);
    }
    std::atomic<int> repetitions{0};
  };
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair, other_pair;
  auto handler = add_to<repeats>(*at.loop, pair.ends[1]);
  auto other = add_to(*at.loop, other_pair.ends[1]);
  handler->repetitions = 100;
  at.loop->call_soon(pair.ends[1]);
  CHECK(becomes_true([&] { return handler->calls == 101; }));
  std::this_thread::sleep_for(20ms);
  CHECK(handler->calls == 101);
  handler->repetitions = 1'000'000'000;
  at.loop->call_soon(pair.ends[1]);
  CHECK(comes_back(other_pair.ends[0], 'x'));
  CHECK(handler->repetitions > 0);
  at.loop->call_soon(12345); // not a socket of the loop
  for (auto* removed : {static_cast<echo*>(handler.get()), other.get()})
    remove_and_wait(*removed);
  for (auto* ended : {&pair, &other_pair})
    ::close(ended->ends[0]);
}

TEST_CASE("a loop whose last owner is a handler ends after it has removed the handler") {
  world at{GENERATE(from_range(all_drivers))};
  socket_pair pair;
  auto handler = std::make_shared<echo>(*at.loop, pair.ends[1]);
  struct owner {
    std::shared_ptr<echo> handler;
    std::shared_ptr<io_loop> loop;
  };
  auto owned = std::make_shared<owner>(handler, at.loop);
  REQUIRE(at.loop->add(pair.ends[1], *handler, 5ms, owned).ok());
  owned = nullptr;
  std::weak_ptr<io_loop> watched = std::exchange(at.loop, nullptr);
  CHECK(comes_back(pair.ends[0], 'x'));
  ::close(pair.ends[0]);
  CHECK(becomes_true([&] { return watched.expired(); }));
  CHECK(handler->is_removed);
}

TEST_CASE("a loop whose owner ends removes the sockets that are left") {
  world at{GENERATE(from_range(all_drivers))};
  std::vector<socket_pair> pairs(10);
  std::vector<std::shared_ptr<echo>> handlers;
  for (auto& pair : pairs)
    handlers.push_back(add_to(*at.loop, pair.ends[1]));
  at.loop = nullptr;
  for (auto& handler : handlers) {
    CHECK(becomes_true([&] { return handler->is_removed.load(); }));
    CHECK_FALSE(handler->called_late);
  }
  for (auto& pair : pairs)
    ::close(pair.ends[0]);
}

TEST_CASE("a host's system ends when the last socket has left its thread") {
  watchdog watch;
  auto spins = GENERATE(false, true);
  socket_pair pair;
  std::shared_ptr<echo> handler;
  std::shared_ptr<io_loop> loop;
  std::optional<std::jthread> remover;
  {
    host_config config;
    caf::actor_system system{config};
    loop = loop_of_middleman(system, spins);
    REQUIRE(loop);
    handler = add_to(*loop, pair.ends[1], 1ms);
    CHECK(comes_back(pair.ends[0], 'x'));
    remover.emplace([&] {
      std::this_thread::sleep_for(100ms);
      if (!handler->is_removed)
        ::shutdown(pair.ends[0], SHUT_WR); // the handler removes itself
    });
  }
  CHECK(handler->is_removed);
  CHECK_FALSE(handler->called_late);
  ::close(pair.ends[0]);
  loop = nullptr; // may end after the system
}

TEST_CASE("a host's system ends at once when its loops have no sockets") {
  watchdog watch{30s};
  std::vector<std::shared_ptr<io_loop>> loops;
  host_config config;
  caf::actor_system system{config};
  for (int i = 0; i < 20; ++i) {
    loops.push_back(loop_of_middleman(system, i % 2 == 0));
    socket_pair pair;
    auto handler = add_to(*loops.back(), pair.ends[1], 1ms);
    if (i % 3 == 0)
      CHECK(comes_back(pair.ends[0], 'x'));
    handler->remove();
    ::close(pair.ends[0]);
  }
}

TEST_CASE("a loop with its own thread works after the end of the system that it was made for") {
  watchdog watch;
  std::shared_ptr<io_loop> loop;
  {
    host_config config{false};
    caf::actor_system system{config};
    loop = io_loop::own(system);
  }
  socket_pair pair;
  auto handler = add_to(*loop, pair.ends[1], 1ms);
  CHECK(comes_back(pair.ends[0], 'x'));
  CHECK(becomes_true([&] { return handler->ticks > 0; }));
  ::close(pair.ends[0]);
  remove_and_wait(*handler);
}

TEST_CASE("a host's remote actors and Troupe's sockets share the thread of its middleman") {
  watchdog watch;
  host_config config, client_config;
  caf::actor_system system{config}, client_system{client_config};
  auto threads = count_threads_named("troupe.io");
  auto loop = io_loop::of(system);
  CHECK(count_threads_named("troupe.io") == threads);
  auto doubles = system.spawn(
      [](caf::event_based_actor*) -> caf::behavior { return {[](int x) { return 2 * x; }}; });
  auto port = system.middleman().publish(doubles, 0, "127.0.0.1", true);
  REQUIRE(port);
  auto remote = client_system.middleman().remote_actor("127.0.0.1", *port);
  REQUIRE(remote);
  socket_pair pair;
  auto handler = add_to(*loop, pair.ends[1], 1ms);
  std::atomic<bool> is_over{false};
  std::atomic<int> round_trips{0};
  std::jthread user{[&] {
    while (!is_over && comes_back(pair.ends[0], 'x'))
      ++round_trips;
  }};
  {
    caf::scoped_actor self{client_system};
    for (int i = 0; i < 100; ++i) {
      int answer = 0;
      self->request(*remote, caf::infinite, i)
          .receive([&](int doubled) { answer = doubled; }, [](const caf::error&) {});
      CHECK(answer == 2 * i);
    }
    self->send_exit(doubles, caf::exit_reason::user_shutdown);
  }
  CHECK(becomes_true([&] { return round_trips > 100; }));
  is_over = true;
  user.join();
  remove_and_wait(*handler);
  ::close(pair.ends[0]);
}

TEST_CASE("a system without a thread of a middleman, or of Troupe's own, gets its own thread") {
  watchdog watch;
  {
    host_config config{false};
    caf::actor_system system{config};
    CHECK_FALSE(loop_of_middleman(system, false));
  }
  {
    host_config config;
    config.set("middleman.manual-multiplexing", true);
    caf::actor_system system{config};
    CHECK_FALSE(loop_of_middleman(system, false));
  }
  system_config config{1, false};
  config.load<caf::io::middleman>();
  caf::actor_system system{config};
  auto threads = count_threads_named("troupe.io");
  auto loop = io_loop::of(system);
  CHECK(count_threads_named("troupe.io") == threads + 1);
  CHECK(loop_of_middleman(system, false)); // a caller may ask for it
}

#if !defined(__SANITIZE_ADDRESS__) // the undefined behaviour sanitizer that runs with it needs
                                   // descriptors itself
TEST_CASE("without free descriptors, a loop is not made, and the process goes on") {
  watchdog watch;
  host_config config{false};
  caf::actor_system system{config};
  auto count_descriptors = [] {
    auto entries = std::filesystem::directory_iterator{"/proc/self/fd"};
    return std::distance(begin(entries), end(entries));
  };
  auto descriptors = count_descriptors();
  for (int i = 0; i < 5; ++i) {
    auto loop = io_loop::own(system);
    socket_pair pair;
    auto handler = add_to(*loop, pair.ends[1]);
    remove_and_wait(*handler);
    ::close(pair.ends[0]);
  }
  CHECK(count_descriptors() == descriptors); // none is left open
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  auto lowest_free = ::dup(0);
  ::close(lowest_free);
  for (int free_descriptors = 0; free_descriptors < 5; ++free_descriptors) {
    rlimit low = limit;
    low.rlim_cur = static_cast<rlim_t>(lowest_free + free_descriptors);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    std::string message;
    try {
      auto loop = io_loop::own(system);
    } catch (const std::system_error& thrown) {
      message = thrown.what();
    }
    ::setrlimit(RLIMIT_NOFILE, &limit);
    INFO(free_descriptors << " descriptors are free");
    CHECK_THAT(message, Contains("cannot watch sockets: Too many open files"));
  }
  CHECK(count_descriptors() == descriptors);
  CHECK(io_loop::own(system));
}
#endif

} // namespace troupe::test::caf_loop_test
