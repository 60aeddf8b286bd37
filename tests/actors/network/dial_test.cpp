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

TEST_CASE(
    "a host that answers again is reached by a new connection attempt, not by the system's retry",
    "[slow]") {
  // Where a listener's queue is full, the system drops connection requests, as a partitioned
  // network does.
  socket_handle listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof socket_address;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&socket_address), size) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&socket_address), &size) == 0);
  std::vector<socket_handle> fill;
  for (int i = 0; i < 4; ++i) {
    fill.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)::connect(fill.back().get(), reinterpret_cast<sockaddr*>(&socket_address), size);
  }
  std::atomic<bool> stop{false};
  auto start_time = step_clock::now();
  auto called = std::async(std::launch::async, [&] {
    return dial({"127.0.0.1", ntohs(socket_address.sin_port)}, start_time + 30s, stop);
  });
  CHECK(called.wait_until(start_time + 3500ms) == std::future_status::timeout);
  fill.clear();
  std::vector<socket_handle> accepted;
  std::atomic<bool> is_over{false};
  std::thread accepts{[&] {
    int interrupts = 0;
    while (!is_over &&
           (interrupts = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0)
      accepted.emplace_back(interrupts);
  }};
  auto call_state = called.wait_until(start_time + 6500ms); // the first socket is retried after 7 s
  stop = true;
  CHECK(call_state == std::future_status::ready);
  CHECK(called.get());
  is_over = true;
  ::shutdown(listener.get(), SHUT_RDWR);
  accepts.join();
}

TEST_CASE("a peer that accepts a connection and is silent is dialled again, and then connects",
          "[slow]") {
  watchdog watch;
  test_authority authority;
  auto identity = [](tls_options options) {
    auto loaded = tls_identity::load(std::move(options));
    REQUIRE(loaded);
    return *std::move(loaded);
  };
  auto client = identity({authority.client("alice"), ""}),
       server = identity({authority.task("worker", 0), "", {{"worker", 0}}});
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  std::atomic<bool> stop{false};
  std::vector<socket_handle> silent_peers;
  std::unique_ptr<tls_stream> answered;
  std::thread answers{[&] {
    auto accept = [&] {
      pollfd wait{listening->first.get(), POLLIN, 0};
      while (!stop && ::poll(&wait, 1, 50) != 1)
        ;
      return socket_handle{
          ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    };
    silent_peers.push_back(accept());
    auto second = accept();
    if (second.get() < 0)
      return;
    answered = accept_tls(make_socket_stream(second.release()), server, false);
    while (!stop) {
      auto state = answered->continue_handshake();
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

TEST_CASE(
    "where the system cannot create threads, connections and sources fail, and later ones do not") {
  if (!functions_are_replaced)
    return;
  watchdog watch;
  struct empty_source final : address_source {
    result<task_addresses> read() override { return task_addresses{}; }
    std::string name() const override { return "nowhere"; }
  };
  system_config config{1, true};
  caf::actor_system system{config}; // ends although threads were refused
  caf::scoped_actor receiver{system};
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  auto transport = socket_transport(io_loop::of(system));
  auto text = concat("127.0.0.1:", listening->second);
  auto call = [&] {
    dial_result dialed_peer{
        .to = {"worker", 0}, .deadline = step_clock::now() + 5s, .outcome = {}, .socket = {}};
    transport.dial(system, std::move(dialed_peer), text, std::make_shared<std::atomic<bool>>(false),
                   caf::actor_cast<caf::actor>(receiver));
    status outcome;
    receiver->receive([&](const dial_result& answered) { outcome = answered.outcome; });
    return outcome;
  };
  auto read = [&] {
    transport.read(system, std::make_shared<empty_source>(), caf::actor_cast<caf::actor>(receiver));
    status outcome;
    receiver->receive(
        [&](const address_update& read_source) { outcome = read_source.addresses.status(); });
    return outcome;
  };
  {
    thread_shortage shortage;
    CHECK(call().kind() == error_kind::unavailable);
    CHECK(read().kind() == error_kind::unavailable);
  }
  CHECK(call());
  CHECK(read());
}

} // namespace troupe::test::dial_test
