#include "troupe/actors/dial.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
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

} // namespace troupe::test::dial_test
