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

// Says whether there may be more.
bool pass(plain_connection& from, plain_connection& to) {
  char bytes[16 * 1024];
  auto came = ::recv(from.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
  return came > 0 && to.write({bytes, static_cast<size_t>(came)});
}

void end(relayed& one) {
  ::shutdown(one.client.descriptor(), SHUT_RDWR);
  ::shutdown(one.task.descriptor(), SHUT_RDWR);
}

} // namespace

relay::relay(uint16_t to) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error{"a relay finds no port"};
  port_ = ntohs(at.sin_port);
  thread_ = std::jthread{[this, to](const std::stop_token& stop) { run(to, stop); }};
}

relay::~relay() {
  thread_ = {};
  ::close(listener_);
}

void relay::run(uint16_t to, const std::stop_token& stop) {
  constexpr int look_ms = 5; // whether something is to be held or cut
  std::list<relayed> all;
  while (!stop.stop_requested()) {
    if (cuts_.exchange(false)) {
      std::ranges::for_each(all, end);
      all.clear();
      holds_ = false;
    }
    std::vector<pollfd> waits{{listener_, POLLIN, 0}};
    for (const auto& one : all) {
      waits.push_back({one.client.descriptor(), POLLIN, 0});
      waits.push_back({holds_ ? -1 : one.task.descriptor(), POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), look_ms) <= 0)
      continue;
    auto at = waits.begin() + 1;
    std::erase_if(all, [&](auto& one) {
      auto &client = *at++, &task = *at++;
      auto lost = client.revents && loses_.exchange(false);
      auto goes_on = !lost && (!client.revents || pass(one.client, one.task)) &&
                     (!task.revents || holds_ || pass(one.task, one.client));
      if (!goes_on)
        end(one);
      return !goes_on;
    });
    if (waits[0].revents)
      all.push_back({plain_connection{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)},
                     plain_connection{to}});
  }
}

} // namespace troupe::test
