// A connection whose owner ends while it begins.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/exchange.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <thread>

#include <sys/socket.h>

namespace troupe::test::owner_ended_test {

using namespace std::chrono_literals;

namespace {

// One whose thread is quick, and whose callers are slow.
class slow_to_return final : public io_loop {
public:
  status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
             std::shared_ptr<void> keep) override {
    return of_->add(socket, handler, tick_period, std::move(keep));
  }
  void want_writable(int socket, bool wanted) override { of_->want_writable(socket, wanted); }
  void remove(int socket) override {
    of_->remove(socket);
    std::this_thread::sleep_for(20ms);
  }
  void call_again(int socket) override { of_->call_again(socket); }
  void call_soon(int socket) override { of_->call_soon(socket); }
  allocator& memory() noexcept override { return of_->memory(); }

private:
  std::shared_ptr<io_loop> of_ = io_loop::make();
};

} // namespace

TEST_CASE("a connection whose owner has ended before it is watched is closed, and forgotten") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config}; // which waits for all connections
  auto opener = system.spawn([](caf::event_based_actor*) {});
  {
    caf::scoped_actor self{system};
    self->wait_for(opener);
  }
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  plain_connection other{ends[1]};
  exchange_options options;
  options.self.role = "task";
  options.self.job = "worker";
  options.opener = opener.address();
  options.loop = std::make_shared<slow_to_return>();
  (void)spawn_exchange(system, ends[0], std::move(options));
  bool closed = false;
  other.read_to_end(closed);
  CHECK(closed);
}

} // namespace troupe::test::owner_ended_test
