#include "troupe/actors/network/dial.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/replaced_functions.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/serialization/discovery/address_source.hpp"
#include "troupe/serialization/tls/tls.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::dial_test {

using namespace std::chrono_literals;

TEST_CASE("a host that answers again is reached by a fresh call, not when the system asks again",
          "[slow]") {
  // Where a listener's queue is full, the system drops what calls, as a network that is cut does.
  socket_handle listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  std::vector<socket_handle> fill;
  for (int i = 0; i < 4; ++i) {
    fill.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)::connect(fill.back().get(), reinterpret_cast<sockaddr*>(&at), size);
  }
  std::atomic<bool> stop{false};
  auto began = step_clock::now();
  auto called = std::async(std::launch::async, [&] {
    return dial({"127.0.0.1", ntohs(at.sin_port)}, began + 30s, stop);
  });
  CHECK(called.wait_until(began + 3500ms) == std::future_status::timeout);
  fill.clear();
  std::vector<socket_handle> accepted;
  std::atomic<bool> over{false};
  std::thread accepts{[&] {
    int one = 0;
    while (!over && (one = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0)
      accepted.emplace_back(one);
  }};
  auto ended = called.wait_until(began + 6500ms); // the first socket is asked for again after 7 s
  stop = true;
  CHECK(ended == std::future_status::ready);
  CHECK(called.get());
  over = true;
  ::shutdown(listener.get(), SHUT_RDWR);
  accepts.join();
}

TEST_CASE("who accepts a call and is silent is called anew, and then comes through", "[slow]") {
  watchdog watch;
  test_authority authority;
  auto identity = [](tls_options options) {
    auto made = tls_identity::load(std::move(options));
    REQUIRE(made);
    return *std::move(made);
  };
  auto client = identity({authority.client("alice"), ""}),
       server = identity({authority.task("worker", 0), "", {{"worker", 0}}});
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  std::atomic<bool> stop{false};
  std::vector<socket_handle> silent;
  std::unique_ptr<tls_stream> answered;
  std::thread answers{[&] {
    auto accept = [&] {
      pollfd wait{listening->first.get(), POLLIN, 0};
      while (!stop && ::poll(&wait, 1, 50) != 1)
        ;
      return socket_handle{
          ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    };
    silent.push_back(accept());
    auto second = accept();
    if (second.get() < 0)
      return;
    answered = answer_over_tls(make_socket_stream(second.release()), server, false);
    while (!stop) {
      auto state = answered->shake_hands();
      if (!state || *state == handshake_state::done)
        return;
      std::this_thread::sleep_for(1ms);
    }
  }};
  auto called = dial_over_tls({"127.0.0.1", listening->second}, client, task_name{"worker", 0},
                              step_clock::now() + 20s, stop);
  stop = true;
  answers.join();
  INFO(called.status());
  CHECK(called);
}

TEST_CASE("where the system gives no threads, calls and sources fail, and the next ones do not") {
  if (!functions_are_replaced)
    return;
  watchdog watch;
  struct nowhere final : address_source {
    result<task_addresses> read() override { return task_addresses{}; }
    std::string name() const override { return "nowhere"; }
  };
  system_config config{1, true};
  caf::actor_system system{config}; // ends although threads were refused
  caf::scoped_actor me{system};
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  auto ways = usual_ways(io_loop::make());
  auto text = concat("127.0.0.1:", listening->second);
  auto call = [&] {
    dialed what{
        .to = {"worker", 0}, .deadline = step_clock::now() + 5s, .outcome = {}, .socket = {}};
    ways.dial(system, std::move(what), text, std::make_shared<std::atomic<bool>>(false),
              caf::actor_cast<caf::actor>(me));
    status outcome;
    me->receive([&](const dialed& done) { outcome = done.outcome; });
    return outcome;
  };
  auto read = [&] {
    ways.read(system, std::make_shared<nowhere>(), caf::actor_cast<caf::actor>(me));
    status outcome;
    me->receive([&](const source_read& done) { outcome = done.says.status(); });
    return outcome;
  };
  {
    thread_shortage none;
    CHECK(call().kind() == error_kind::unavailable);
    CHECK(read().kind() == error_kind::unavailable);
  }
  CHECK(call());
  CHECK(read());
}

} // namespace troupe::test::dial_test
