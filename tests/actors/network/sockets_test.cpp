// Sockets by the functions of CAF's network layer.
#include "troupe/actors/network/sockets.hpp"

#include "tests/support/catch.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::sockets_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

bool has_ipv6() { return open_listener("::1", 0).ok(); }

socket_handle connect_to(const std::string& host, uint16_t port) {
  std::atomic<bool> stop{false};
  auto dialed = dial({host, port}, step_clock::now() + 5s, stop);
  REQUIRE(dialed);
  return *std::move(dialed);
}

int flags_of(int socket, int command) { return ::fcntl(socket, command); }

} // namespace

TEST_CASE("accepted connections are not blocking, not inherited, and know their peer") {
  for (std::string host : {"127.0.0.1", "::1"}) {
    if (host == "::1" && !has_ipv6())
      continue;
    auto listening = open_listener(host, 0);
    REQUIRE(listening);
    auto& [listener, port] = *listening;
    CHECK(port != 0);
    CHECK((flags_of(listener.get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((flags_of(listener.get(), F_GETFD) & FD_CLOEXEC) != 0);
    errno = 0;
    CHECK(accept_connection(listener.get()) == -1);
    CHECK(errno == EAGAIN);
    auto caller = connect_to(host, port);
    socket_handle accepted{accept_connection(listener.get())};
    REQUIRE(accepted.get() >= 0);
    CHECK((flags_of(accepted.get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((flags_of(accepted.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(address_of_peer(caller.get()) == to_string(address{host, port}));
    CHECK_THAT(address_of_peer(accepted.get()), Contains(host));
    caller = socket_handle{};
    CHECK(accept_connection(listener.get()) == -1);
  }
}

TEST_CASE("a listener at the unspecified address of IPv6 accepts connections of IPv4") {
  if (!has_ipv6())
    return;
  auto listening = open_listener("::", 0);
  REQUIRE(listening);
  auto caller = connect_to("127.0.0.1", listening->second);
  socket_handle accepted{accept_connection(listening->first.get())};
  REQUIRE(accepted.get() >= 0);
  CHECK_THAT(address_of_peer(accepted.get()), Contains("127.0.0.1"));
}

TEST_CASE("an address that cannot be listened at is an error with the system's reason") {
  auto listening = open_listener("127.0.0.1", 0);
  REQUIRE(listening);
  auto again = open_listener("127.0.0.1", listening->second);
  CHECK(again.status().kind() == error_kind::unavailable);
  CHECK(again.status().message() == "Address already in use");
  CHECK(open_listener("192.0.2.1", 0).status().message() == "Cannot assign requested address");
  auto with_scope = open_listener("fe80::1%lo", 0);
  CHECK(with_scope.status().kind() == error_kind::invalid_argument);
  CHECK_THAT(with_scope.status().message(), Contains("fe80::1%lo"));
  CHECK_THAT(listen_at({"127.0.0.1", listening->second}).status().message(),
             Contains("cannot listen at 127.0.0.1:") && Contains("Address already in use"));
  CHECK_THAT(listen_at({"no-such-host.invalid", 0}).status().message(),
             Contains("cannot resolve no-such-host.invalid"));
}

TEST_CASE("a name is listened at by its first address") {
  auto listening = listen_at({"localhost", 0});
  REQUIRE(listening);
  auto caller = connect_to("localhost", listening->second);
  socket_handle accepted{accept_connection(listening->first.get())};
  CHECK(accepted.get() >= 0);
}

TEST_CASE("accept errors keep the system's number") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  socket_handle reading_end{ends[0]}, writing_end{ends[1]};
  CHECK(accept_connection(reading_end.get()) == -1);
  CHECK(errno == ENOTSOCK);
}

TEST_CASE("the peer of a socket that is not of the Internet has an unknown address") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  socket_handle first_end{ends[0]}, second_end{ends[1]};
  CHECK(address_of_peer(first_end.get()) == "an unknown address");
  CHECK(address_of_peer(-1) == "an unknown address");
}

} // namespace troupe::test::sockets_test
