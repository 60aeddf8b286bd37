// What carries the bytes of an exchange: a socket, or what stands for one in a simulation.
#pragma once
#include <memory>
#include <span>

#include <sys/types.h>
#include <sys/uio.h>

namespace troupe {

/// Functions return what the system's do for a socket that does not block: -1 and errno, EAGAIN
/// where there is nothing to be done now.
class byte_stream {
public:
  virtual ~byte_stream() = default;    ///< closes it
  virtual int id() const noexcept = 0; ///< of a socket its descriptor; names it for its loop
  virtual ssize_t read(std::span<const iovec> places) = 0;
  virtual ssize_t write(std::span<const iovec> pieces) = 0;
  virtual void end_writing() = 0; ///< the peer reads what was written, and the end
  virtual void end() = 0;         ///< both directions: the next read finds the end
  virtual void drop_input() = 0;  ///< what was not read
  virtual int socket() const noexcept { return -1; } ///< where it is one
};

std::unique_ptr<byte_stream> make_socket_stream(int socket);

} // namespace troupe
