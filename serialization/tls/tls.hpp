// TLS 1.3 between two processes that authenticate each other, independent of the transport: bytes
// in and out. docs/security.md describes which certificates are trusted.
#pragma once
#include "troupe/serialization/tls/certificate_name.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe {

struct tls_options {
  tls_files files;
  std::string cluster = {};           ///< certificates of other clusters are not trusted
  std::optional<task_name> self = {}; ///< the task that our certificate must name; none: a client
  /// The time for checks of peers' certificates; none: the system's.
  std::function<std::chrono::system_clock::time_point()> now = {};
  /// Called on any thread when changed files cannot be used, and the previous ones stay in use.
  std::function<void(const std::string&)> on_warning = {};
};

/// One end of one connection. One thread at a time may call. Never blocks.
class tls_session {
public:
  /// Returns encrypted bytes that have arrived, as ::read for a non-blocking socket.
  using source = std::function<ssize_t(std::span<std::byte>)>;

  virtual ~tls_session() = default;

  /// Continues the handshake with the available bytes; returns whether it is done. Fails with
  /// failed_precondition if one end does not trust the other, with unavailable if the connection
  /// ends early. output() must be sent in all cases: it may contain the reason for the other end.
  virtual result<bool> continue_handshake() = 0;
  /// The names of our cluster in the other end's certificate, after the handshake.
  virtual const std::vector<certificate_name>& peer() const noexcept = 0;

  /// As ::read; errno is EPROTO if failed() has the reason.
  virtual ssize_t read(std::span<std::byte> target) = 0;
  /// The bytes that read() can return without more input.
  virtual size_t pending() const noexcept = 0;
  /// Encrypts all bytes and appends them to output(); returns false if failed() has the reason.
  virtual bool write(std::span<const std::byte> bytes) = 0;
  /// Encrypts later writes with a new key, and notifies the other end. write() does so by itself
  /// after enough records. Returns false if failed() has the reason.
  virtual bool change_keys() = 0;
  /// The bytes to send. The caller removes bytes; read() may append some, too.
  virtual std::vector<std::byte>& output() noexcept = 0;
  /// The error after which the session cannot be used.
  virtual const status& failed() const noexcept = 0;
};

/// The credentials of a process, and the authorities that it trusts. Thread-safe.
class tls_identity {
public:
  /// Reads the files. Fails with the name and the problem of a file that is missing or invalid;
  /// also if our own certificate has expired, names another task, or is not signed by the
  /// authority.
  static result<std::shared_ptr<tls_identity>> load(tls_options options);
  virtual ~tls_identity() = default;

  /// Makes the connecting end of a connection to that task (none: to any task of the cluster), or
  /// the accepting end. Uses the current files.
  virtual std::unique_ptr<tls_session> connect(const std::optional<task_name>& expected,
                                               tls_session::source input) = 0;
  /// `is_anonymous`: accepts peers without a certificate, which have no names.
  virtual std::unique_ptr<tls_session> accept(tls_session::source input,
                                              bool is_anonymous = false) = 0;
  /// The content of the token's file, for a client that has one; else empty.
  virtual result<std::string> token() const = 0;
};

/// Returns the cluster of all names in a certificate's file; empty if they differ, or if the file
/// cannot be read.
std::string cluster_of_certificate(const std::string& path);

/// Returns whether bytes may be the beginning of TLS from a client.
bool begins_as_tls(std::span<const std::byte> bytes) noexcept;

} // namespace troupe
