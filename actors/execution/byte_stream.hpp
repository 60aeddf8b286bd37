// What carries the bytes of an exchange: a socket, TLS over one, or what stands for one in a
// simulation.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <memory>
#include <span>
#include <vector>

#include <sys/types.h>
#include <sys/uio.h>

namespace troupe {

struct certificate_name; // serialization/tls/certificate_name.hpp

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
  virtual void drop_input() = 0;  ///< what was not read, or a bounded part of it
  virtual int socket() const noexcept { return -1; } ///< where it is one

  /// Says whether read() has something to give that its socket does not tell of any more. On the
  /// thread that reads.
  virtual bool holds_input() const noexcept { return false; }
  /// Says whether bytes that write() took have not left; it goes on with them, also without more.
  /// Any thread may ask.
  virtual bool holds_output() const noexcept { return false; }
  /// What a failed read or write means, in words, behind which the peer's name goes.
  virtual status why_failed(int error) const;
  /// Whom the peer has proven to be; nothing where it has proven nothing.
  virtual const std::vector<certificate_name>* names() const noexcept { return nullptr; }
};

std::unique_ptr<byte_stream> make_socket_stream(int socket);
/// Gives these bytes, and then what the other gives.
std::unique_ptr<byte_stream> make_replayed_stream(std::vector<std::byte> first,
                                                  std::unique_ptr<byte_stream> rest);

} // namespace troupe
