// Sockets of TCP connections, by the functions of CAF's network layer.
#pragma once
#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace troupe {

/// Returns a listening, non-blocking socket at a numeric address, and its port, which the system
/// chooses if `port` is 0. "::" accepts connections of IPv4, too.
result<std::pair<socket_handle, uint16_t>> open_listener(const std::string& host, uint16_t port);

/// Accepts a connection. Returns a non-blocking socket, or -1 with errno as accept() sets it.
int accept_connection(int listener);

/// Returns the address of the other end, such as "10.0.0.7:41234".
std::string address_of_peer(int socket);

} // namespace troupe
