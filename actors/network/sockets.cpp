#include "troupe/actors/network/sockets.hpp"

#include <caf/expected.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/native_socket.hpp>
#include <caf/policy/tcp.hpp>

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace troupe {

namespace net = caf::io::network;

result<std::pair<socket_handle, uint16_t>> open_listener(const std::string& host, uint16_t port) {
  if (host.find('%') != host.npos)
    return invalid("an IPv6 address with a scope (", host,
                   ") is not supported; listen at [::] or at an address without a scope");
  auto system_error = [] {
    return failure(error_kind::unavailable,
                   errno != 0 ? std::strerror(errno) : "no interface has this address");
  };
  errno = 0; // CAF's error does not have the system's
  auto opened = net::new_tcp_acceptor_impl(port, host.c_str(), true);
  if (!opened)
    return system_error();
  socket_handle socket{*opened};
  if (!net::nonblocking(socket.get(), true))
    return system_error();
  auto bound = net::local_port_of_fd(socket.get());
  if (!bound)
    return system_error();
  return std::pair{std::move(socket), *bound};
}

int accept_connection(int listener) {
  net::native_socket accepted = net::invalid_native_socket;
  if (!caf::policy::tcp::try_accept(accepted, listener))
    return -1;
  if (accepted == net::invalid_native_socket) {
    errno = EAGAIN; // try_accept() has changed it
    return -1;
  }
  socket_handle socket{accepted};
  return net::nonblocking(socket.get(), true) ? socket.release() : -1;
}

std::string address_of_peer(int socket) {
  // Asked first: remote_port_of_fd() ends the process if the socket is neither of IPv4 nor of IPv6.
  auto host = net::remote_addr_of_fd(socket);
  if (!host)
    return "an unknown address";
  auto port = net::remote_port_of_fd(socket);
  return port ? to_string(address{*std::move(host), *port}) : *std::move(host);
}

} // namespace troupe
