// A connection whose owner ends while the connection is being set up.
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

// A loop whose thread is fast and whose callers are slow.
class slow_add_loop final : public io_loop {
public:
  explicit slow_add_loop(caf::actor_system& system) : wrapped_(io_loop::own(system)) {}

  status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
             std::shared_ptr<void> keep) override {
    return wrapped_->add(socket, handler, tick_period, std::move(keep));
  }
  void want_writable(int socket, bool is_wanted) override {
    wrapped_->want_writable(socket, is_wanted);
  }
  void remove(int socket) override {
    wrapped_->remove(socket);
    std::this_thread::sleep_for(20ms);
  }
  void call_again(int socket) override { wrapped_->call_again(socket); }
  void call_soon(int socket) override { wrapped_->call_soon(socket); }
  allocator& memory() noexcept override { return wrapped_->memory(); }

private:
  const std::shared_ptr<io_loop> wrapped_;
};

} // namespace

TEST_CASE("a connection whose owner ends before it is watched is closed and removed") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config}; // waits for all connections
  auto opener = system.spawn([](caf::event_based_actor*) {});
  {
    caf::scoped_actor self{system};
    self->wait_for(opener);
  }
  int descriptors[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, descriptors) == 0);
  plain_connection connection{descriptors[1]};
  exchange_options options;
  options.self.role = "task";
  options.self.job = "worker";
  options.opener = opener.address();
  options.loop = std::make_shared<slow_add_loop>(system);
  (void)spawn_exchange(system, descriptors[0], std::move(options));
  bool closed = false;
  connection.read_to_end(closed);
  CHECK(closed);
}

} // namespace troupe::test::owner_ended_test
