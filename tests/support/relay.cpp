#include "tests/support/relay.hpp"

#include "tests/support/plain_socket.hpp"

#include <algorithm>
#include <list>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {
namespace {

struct relayed {
  plain_connection client, task;
};

// Returns whether the connection is still open.
bool pass(plain_connection& from, plain_connection& receiver) {
  char bytes[16 * 1024];
  auto received = ::recv(from.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
  return received > 0 && receiver.write({bytes, static_cast<size_t>(received)});
}

void end(relayed& connection) {
  ::shutdown(connection.client.descriptor(), SHUT_RDWR);
  ::shutdown(connection.task.descriptor(), SHUT_RDWR);
}

} // namespace

relay::relay(uint16_t target_port) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof socket_address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&socket_address), size) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&socket_address), &size) != 0)
    throw std::runtime_error{"a relay finds no port"};
  port_ = ntohs(socket_address.sin_port);
  thread_ =
      std::jthread{[this, target_port](const std::stop_token& stop) { run(target_port, stop); }};
}

relay::~relay() {
  thread_ = {};
  ::close(listener_);
}

void relay::run(uint16_t target_port, const std::stop_token& stop) {
  constexpr int poll_ms = 5; // the interval at which the flags are checked
  std::list<relayed> connections;
  while (!stop.stop_requested()) {
    if (cuts_.exchange(false)) {
      std::ranges::for_each(connections, end);
      connections.clear();
      holds_ = false;
    }
    std::vector<pollfd> polled{{listener_, POLLIN, 0}};
    for (const auto& connection : connections) {
      polled.push_back({connection.client.descriptor(), POLLIN, 0});
      polled.push_back({holds_ ? -1 : connection.task.descriptor(), POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), poll_ms) <= 0)
      continue;
    auto poll_entry = polled.begin() + 1;
    std::erase_if(connections, [&](auto& connection) {
      auto &client = *poll_entry++, &task = *poll_entry++;
      auto lost = client.revents && loses_.exchange(false);
      auto goes_on = !lost && (!client.revents || pass(connection.client, connection.task)) &&
                     (!task.revents || holds_ || pass(connection.task, connection.client));
      if (!goes_on)
        end(connection);
      return !goes_on;
    });
    if (polled[0].revents)
      connections.push_back({plain_connection{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)},
                             plain_connection{target_port}});
  }
}

} // namespace troupe::test
