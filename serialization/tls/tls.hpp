// TLS 1.3 between two processes that both show a certificate, without the connection: bytes in and
// out. docs/security.md says who is believed.
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
  std::string cluster = {};           ///< certificates of other clusters are not believed
  std::optional<task_name> self = {}; ///< whom our certificate has to name; none: a client
  /// By which peers' certificates are judged; none: the system's.
  std::function<std::chrono::system_clock::time_point()> now = {};
  /// Told on any thread when files that have changed cannot be used: those of before serve on.
  std::function<void(const std::string&)> on_warning = {};
};

/// One end of one connection. One thread at a time may call. Nothing of it waits.
class tls_session {
public:
  /// Gives encrypted bytes that have come, as ::read does for a socket that does not block.
  using source = std::function<ssize_t(std::span<std::byte>)>;

  virtual ~tls_session() = default;

  /// Goes on with the handshake as far as bytes are there; returns whether it is done. Fails with
  /// failed_precondition when one end does not believe the other, with unavailable when it ends
  /// before. What output() has is to be sent in all cases: it may tell the other end why.
  virtual result<bool> shake_hands() = 0;
  /// Whom of our cluster the other end's certificate names, after the handshake.
  virtual const std::vector<certificate_name>& peer() const noexcept = 0;

  /// As ::read, with EPROTO where failed() says more.
  virtual ssize_t read(std::span<std::byte> to) = 0;
  /// Bytes that read() can give without more from its source.
  virtual size_t pending() const noexcept = 0;
  /// Encrypts all of it, at the end of output(); false where failed() says why not.
  virtual bool write(std::span<const std::byte> from) = 0;
  /// What is written from now on has another key, which the other end is told. write() does so by
  /// itself where a key has served long enough. False where failed() says why not.
  virtual bool change_keys() = 0;
  /// What is to be sent. The caller takes bytes from it; read() may add some, too.
  virtual std::vector<std::byte>& output() noexcept = 0;
  /// Why it is of no use any more.
  virtual const status& failed() const noexcept = 0;
};

/// What a process shows, and whom it believes. Any thread may call.
class tls_identity {
public:
  /// Reads the files. Fails with the name of the file that is missing or of no use, and says why:
  /// also where our own certificate has expired, names another task, or is not signed by the
  /// authority.
  static result<std::shared_ptr<tls_identity>> load(tls_options options);
  virtual ~tls_identity() = default;

  /// The end that has called that task, or (with none) whichever task of the cluster is there; and
  /// the end that was called. With the files as they are now.
  virtual std::unique_ptr<tls_session> call(const std::optional<task_name>& expected,
                                            tls_session::source from) = 0;
  /// `anonymous`: peers without a certificate pass, and name nobody.
  virtual std::unique_ptr<tls_session> answer(tls_session::source from, bool anonymous = false) = 0;
  /// What the file of the token says, for a client that has one; else empty.
  virtual result<std::string> token() const = 0;
};

/// The one cluster that all names in a certificate's file are of; empty where they are of several,
/// or it cannot be read.
std::string cluster_of_certificate(const std::string& path);

/// Says whether bytes may be the beginning of TLS: those that a client begins with.
bool begins_as_tls(std::span<const std::byte> bytes) noexcept;

} // namespace troupe
