// The byte stream below an exchange: a socket, TLS over a socket, or a simulated connection.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <memory>
#include <span>
#include <vector>

#include <sys/types.h>
#include <sys/uio.h>

namespace troupe {

struct certificate_name; // serialization/tls/certificate_name.hpp

/// read() and write() return as those of a non-blocking socket do: the number of bytes, or -1 with
/// errno, which is EAGAIN where the call would block. One thread may read while another one writes.
class byte_stream {
public:
  virtual ~byte_stream() = default;    ///< closes the stream
  virtual int id() const noexcept = 0; ///< the descriptor of a socket; identifies it in its loop
  virtual ssize_t read(std::span<const iovec> places) = 0;
  virtual ssize_t write(std::span<const iovec> pieces) = 0;
  virtual void shut_down_writing() = 0; ///< the peer reads what was written, and then end of file
  virtual void shut_down() = 0;         ///< both directions: the next read returns end of file
  virtual void drop_input() = 0;        ///< discards unread input, or a bounded part of it
  virtual int socket() const noexcept { return -1; } ///< the descriptor, or -1

  /// Returns whether read() has buffered input, for which the socket does not become readable.
  /// Called on the reading thread.
  virtual bool has_buffered_input() const noexcept { return false; }
  /// Returns whether bytes that write() accepted have not been sent. The stream sends them without
  /// a further call. Any thread may call.
  virtual bool has_unsent_output() const noexcept { return false; }
  /// Returns the error of a failed read or write. `error` is its errno. Callers prefix the name of
  /// the peer.
  virtual status error_of(int error) const;
  /// Returns the names that the peer has proven; null if it has proven none.
  virtual const std::vector<certificate_name>* names() const noexcept { return nullptr; }
};

std::unique_ptr<byte_stream> make_socket_stream(int socket);
/// Returns a stream that gives the bytes of `first`, and then those of `next`.
std::unique_ptr<byte_stream> make_replayed_stream(std::vector<std::byte> first,
                                                  std::unique_ptr<byte_stream> next);

} // namespace troupe
